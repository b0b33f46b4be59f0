/** `/size` estimates the length of the archive in bytes. */
import { Readable } from 'node:stream'
import { Hono } from 'hono'
import type { ExportSize } from '#contract/export.ts'
import { PRODUCT_NAME } from '#contract/product-names.ts'
import type { AccessWatch } from '#server/access/access-watch.ts'
import { rejectOtherSites, type SignedIn } from '#server/access/authenticate.ts'
import { endWithAccess } from '#server/access/end-with-access.ts'
import type { Log } from '#server/base/log.ts'
import { onlyLibrary, type Scope } from '#server/database/scope.ts'
import { sumFileSizes } from '#server/documents/store/library.ts'
import { listReadableSpaces } from '#server/spaces/readable-spaces.ts'
import { type ArchiveParts, writeArchive } from './export/archive.ts'

export interface ExportRoutesParts extends ArchiveParts {
  readonly accessWatch: AccessWatch
  readonly log: Log
}

export function createExportRoutes({ log, accessWatch, ...parts }: ExportRoutesParts) {
  const routes = new Hono<SignedIn>()

  routes.get('/account/export/size', async (context) => {
    const claims = context.get('claims')
    const settings = onlyLibrary(claims.sub)
    const bytes = await parts.database.asUser(claims, estimateBytes, { readOnly: true, settings })
    return context.json({ bytes } satisfies ExportSize)
  })

  routes.get('/account/export', rejectOtherSites, async (context) => {
    const claims = context.get('claims')
    const readSpaces = () => parts.database.asUser(claims, listReadableSpaces, { readOnly: true })
    const reading = readSpaces()
    // It holds the person's conversations in them.
    endWithAccess(context, accessWatch, {
      person: claims.sub,
      sessionId: claims.session_id,
      async isAllowed() {
        const [spaces, left] = [await reading, new Set(await readSpaces())]
        return spaces.every((space) => left.has(space))
      },
    })
    await reading
    const archive = writeArchive(parts, claims)
    // A client that disconnects also ends the stream.
    archive.on('error', (error) => log.warn({ err: error }, 'an export broke off'))
    const name = `${PRODUCT_NAME.toLowerCase()}-${new Date().toISOString().slice(0, 10)}.zip`
    return new Response(Readable.toWeb(archive) as ReadableStream<Uint8Array>, {
      headers: {
        'content-type': 'application/zip',
        'content-disposition': `attachment; filename="${name}"`,
        'cache-control': 'no-store',
      },
    })
  })

  return routes
}

/** Files hardly shrink, and the compression of text roughly makes up for its sources. */
async function estimateBytes(scope: Scope): Promise<number> {
  const { rows } = await scope.query<{ bytes: number }>(
    `select coalesce(sum(octet_length(m.content)), 0)::float8 as bytes
     from conversations c join messages m on m.conversation_id = c.id where c.uid = (select auth.uid())`,
  )
  return (rows[0]?.bytes ?? 0) + (await sumFileSizes(scope))
}
