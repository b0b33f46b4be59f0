/** `GET /api/account/export`: everything that a person has here, as one archive; `/size` says about how long it will be. */
import { Readable } from 'node:stream'
import { Hono } from 'hono'
import { type ExportSize } from '#contract/export.ts'
import { PRODUCT_NAME } from '#contract/limits.ts'
import { rejectOtherSites, type SignedIn } from '#server/access/authenticate.ts'
import { type Log } from '#server/base/log.ts'
import { type Scope } from '#server/database/scope.ts'
import { sumFileSizes } from '#server/documents/store/library.ts'
import { type ArchiveParts, writeArchive } from './export/archive.ts'

export function createExportRoutes({ log, ...parts }: ArchiveParts & { readonly log: Log }) {
  const routes = new Hono<SignedIn>()

  routes.get('/account/export/size', async (context) => {
    const bytes = await parts.database.asUser(context.get('claims'), estimateBytes, { readOnly: true })
    return context.json({ bytes } satisfies ExportSize)
  })

  routes.get('/account/export', rejectOtherSites, (context) => {
    const archive = writeArchive(parts, context.get('claims'))
    // Who goes away in the middle ends the stream too, and is nobody's fault.
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

/** About how long the archive will be: files hardly shrink, and text with its sources as much as the sources add. */
async function estimateBytes(scope: Scope): Promise<number> {
  const { rows } = await scope.query<{ bytes: number }>(
    `select coalesce(sum(octet_length(m.content)), 0)::float8 as bytes
     from conversations c join messages m on m.conversation_id = c.id`,
  )
  return (rows[0]?.bytes ?? 0) + (await sumFileSizes(scope))
}
