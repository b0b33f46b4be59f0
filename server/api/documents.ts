import { type Context, Hono, type MiddlewareHandler } from 'hono'
import { z } from 'zod'
import { type DocumentRow, MAX_IDS, type PageText } from '#contract/document.ts'
import { MAX_SEARCH_LENGTH } from '#contract/search.ts'
import { type ChosenSpace, chosenSpace, spaceMove } from '#contract/space.ts'
import type { AccessWatch } from '#server/access/access-watch.ts'
import { requirePerson, type SignedIn } from '#server/access/authenticate.ts'
import { endWithAccess, endWithSession } from '#server/access/end-with-access.ts'
import { receiveBody } from '#server/access/receive-body.ts'
import type { TokenVerifier } from '#server/access/tokens.ts'
import { APP_ERROR_STATUS, AppError, type AppErrorCode } from '#server/base/errors.ts'
import type { Log } from '#server/base/log.ts'
import { validate } from '#server/base/validate.ts'
import { retryDeadlock } from '#server/database/deadlocks.ts'
import { onlyLibrary, type Scope } from '#server/database/scope.ts'
import { DISCARD_JOB, DISCARD_REQUEST } from '#server/documents/ingest/blob-cleanup.ts'
import { REINDEX_JOB } from '#server/documents/ingest/reindex-job.ts'
import { enqueueIngest } from '#server/documents/ingest/ingest-job.ts'
import { serveFile } from '#server/documents/serve-file.ts'
import {
  countDocuments,
  deleteDocument,
  deleteDocuments,
  deleteUnread,
  findByName,
  findDocumentsBySha256,
  getDocument,
  getDocuments,
  listDocuments,
  listNames,
  listVersions,
  renameDocument,
} from '#server/documents/store/library.ts'
import { pauseReading, resumeReading } from '#server/documents/store/ingestion.ts'
import { getPageNear, getPageText, getReadingReport } from '#server/documents/store/pages.ts'
import { copyDocument, moveDocument, requireMayEdit } from '#server/documents/store/space-libraries.ts'
import { receiveUpload, type UploadParts } from '#server/documents/upload.ts'
import { inChosenSpace } from './chosen-space.ts'
import { jsonText } from './json-text.ts'
import { limitBody, readBody, requireForm, requireJson } from './read-body.ts'
import { renderApiError } from './render-error.ts'

export interface DocumentRoutesParts extends UploadParts {
  readonly tokens: TokenVerifier
  readonly accessWatch: AccessWatch
  readonly log: Log
  readonly address: string
  /** Limits the requests of each caller; undefined: does not. */
  readonly takeTurn?: MiddlewareHandler | undefined
}

const documentId = z.object({ id: z.uuid() })
const pageOfDocument = z.object({ id: z.uuid(), page: z.coerce.number().int().positive() })
const placeInSheet = z.object({
  near: z.coerce.number().int().nonnegative().optional(),
  row: z.coerce.number().int().nonnegative().optional(),
})
/** PostgreSQL's texts hold every character but this one. */
const search = z
  .string()
  .max(MAX_SEARCH_LENGTH)
  .transform((text) => text.replaceAll('\u0000', ' '))
const documentPage = z.object({
  after: z.uuid().optional(),
  limit: z.coerce.number().int().positive().max(1000).optional(),
  search: search.optional(),
  order: z.enum(['date', 'name']).optional(),
  descending: z.stringbool().optional(),
})
const documentIds = z.object({
  ids: z
    .string()
    .transform((ids) => ids.split(','))
    .pipe(z.array(z.uuid()).max(MAX_IDS)),
})
const inSpace = z.object({ space: chosenSpace.optional() })
const hashes = z.object({ sha256: z.array(z.string().regex(/^[0-9a-f]{64}$/)).max(MAX_IDS) })
const queueChange = z.object({ paused: z.boolean() })
/** Documents that were added later stay; by default none does. */
const cancelledReading = z.object({ until: z.iso.datetime().optional() })
const changes = z.object({ filename: z.string().trim().min(1).max(255) })

/** Malformed parameters are `not_found`, like unknown ids. */
function validateParameters<Schema extends z.ZodType>(schema: Schema, values: unknown): z.output<Schema> {
  const parsed = schema.safeParse(values)
  if (!parsed.success) throw new AppError('not_found', 'There is no such document.', { cause: parsed.error })
  return parsed.data
}

const errorCodeOf = (status: number): AppErrorCode => {
  for (const code of ['conflict', 'too_large', 'unsupported_type', 'empty'] as const)
    if (APP_ERROR_STATUS[code] === status) return code
  return 'bad_request'
}

const isForm = ({ req }: Context): boolean => /^multipart\/form-data\b/i.test(req.header('content-type') ?? '')

/** Files are received in parts, after the token was checked. */
const receiveUnlessFiles: MiddlewareHandler = async (context, next) => {
  if (isForm(context)) return next()
  return limitBody(context, async () => {
    await receiveBody(context, next)
  })
}

/** Reads and writes every row with the rights of the signed-in person. */
export function createDocumentRoutes(parts: DocumentRoutesParts): Hono<SignedIn> {
  const { database, tokens, blobs, jobs, log, address, accessWatch } = parts
  const routes = new Hono<SignedIn>()
  routes.onError(renderApiError(log))
  if (parts.takeTurn) routes.use(parts.takeTurn)
  routes.use(receiveUnlessFiles, requirePerson(tokens, address))
  routes.use('/:id', requireJson)

  /** Reads with the rights of the person, in the space that the request names. */
  const readIn = <T>(context: Context<SignedIn>, read: (scope: Scope) => Promise<T>, fallback?: ChosenSpace) => {
    const claims = context.get('claims')
    const { space = fallback } = validate(inSpace, context.req.query())
    return database.asUser(claims, read, { readOnly: true, settings: inChosenSpace(claims, space) })
  }

  /** The space whose documents a request changes; null: the person's own. */
  const namedSpace = (context: Context<SignedIn>): string | null => {
    const { space = 'personal' } = validate(inSpace, context.req.query())
    return space === 'personal' ? null : space
  }

  /** The library whose queue a request changes. @throws AppError `not_found`, `forbidden` */
  async function queueLibrary(context: Context<SignedIn>): Promise<string> {
    const [claims, space] = [context.get('claims'), namedSpace(context)]
    if (space === null) return claims.sub
    await database.asUser(claims, (scope) => requireMayEdit(scope, space), { readOnly: true })
    return space
  }

  async function upload(
    context: Context<SignedIn>,
    spaceId: string | null,
    versionOf?: DocumentRow,
  ): Promise<Response> {
    const message = 'Upload files as multipart/form-data.'
    const contentType = requireForm(context, message)
    const { body } = context.req.raw
    if (body === null) throw new AppError('bad_request', message)
    endWithSession(context, accessWatch, context.get('claims'))
    const received = { claims: context.get('claims'), contentType, body, spaceId, ...(versionOf ? { versionOf } : {}) }
    const { documents, rejected, isCreated } = await receiveUpload(received, parts)
    const [first] = rejected
    if (documents.length === 0 && first) {
      const error = { code: errorCodeOf(first.status), message: first.message }
      return Response.json({ documents, rejected, error }, { status: first.status })
    }
    return Response.json({ documents, rejected }, { status: isCreated ? 201 : 200 })
  }

  routes.post('/', (context) => upload(context, namedSpace(context)))

  routes.post('/:id/versions', async (context) => {
    const { id } = validateParameters(documentId, context.req.param())
    const claims = context.get('claims')
    const versionOf = await database.asUser(claims, (scope) => getDocument(scope, id), { readOnly: true })
    return upload(context, versionOf.space_id ?? null, versionOf)
  })

  routes.get('/:id/versions', async (context) => {
    const { id } = validateParameters(documentId, context.req.param())
    const versions = await database.asUser(context.get('claims'), (scope) => listVersions(scope, id), {
      readOnly: true,
    })
    return jsonText(context, versions)
  })

  routes.get('/', async (context) => {
    const claims = context.get('claims')
    if (context.req.query('ids') !== undefined) {
      const { ids } = validate(documentIds, context.req.query())
      return context.json(await database.asUser(claims, (scope) => getDocuments(scope, ids), { readOnly: true }))
    }
    const page = validate(documentPage, context.req.query())
    return jsonText(context, await readIn(context, (scope) => listDocuments(scope, page)))
  })

  routes.delete('/', requireJson, async (context) => {
    const { ids } = validate(documentIds, context.req.query())
    await database.asUser(context.get('claims'), (scope) => deleteDocuments(scope, ids))
    jobs.enqueue(DISCARD_JOB, DISCARD_REQUEST)
    return context.body(null, 204)
  })

  routes.get('/count', async (context) => context.json(await readIn(context, countDocuments)))

  routes.post('/known', async (context) => {
    const { sha256 } = await readBody(context, hashes)
    return context.json(await readIn(context, (scope) => findDocumentsBySha256(scope, sha256), 'personal'))
  })

  routes.patch('/queue', async (context) => {
    const { paused } = await readBody(context, queueChange)
    const addedBy = context.get('claims').sub
    const queue = { library: await queueLibrary(context), addedBy }
    if (paused) await database.asService((scope) => pauseReading(scope, queue))
    else {
      const resumed = await database.asService((scope) => resumeReading(scope, queue))
      for (const [place, document] of resumed.entries()) enqueueIngest(jobs, document, place)
    }
    return context.json(await readIn(context, countDocuments, 'personal'))
  })

  routes.delete('/queue', async (context) => {
    const claims = context.get('claims')
    const { until } = validate(cancelledReading, context.req.query())
    const settings = onlyLibrary(await queueLibrary(context))
    await database.asUser(claims, (scope) => deleteUnread(scope, until), { settings })
    jobs.enqueue(DISCARD_JOB, DISCARD_REQUEST)
    return context.body(null, 204)
  })

  routes.get('/names', async (context) => {
    const { search: wanted = '' } = validate(documentPage.pick({ search: true }), context.req.query())
    return jsonText(context, await readIn(context, (scope) => listNames(scope, wanted)))
  })

  routes.get('/matches', async (context) => {
    const { name } = validate(z.object({ name: search }), context.req.query())
    return context.json(await readIn(context, (scope) => findByName(scope, name)))
  })

  routes.get('/:id', async (context) => {
    const { id } = validateParameters(documentId, context.req.param())
    return context.json(
      await database.asUser(context.get('claims'), (scope) => getDocument(scope, id), { readOnly: true }),
    )
  })

  routes.get('/:id/file', async (context) => {
    const { id } = validateParameters(documentId, context.req.param())
    const claims = context.get('claims')
    endWithAccess(context, accessWatch, {
      person: claims.sub,
      sessionId: claims.session_id,
      async isAllowed() {
        const readable = await database.asUser(claims, (scope) => getDocuments(scope, [id]), { readOnly: true })
        return readable.length > 0
      },
    })
    return serveFile({ database, blobs }, claims, id, context.req.raw)
  })

  routes.get('/:id/pages/:page', async (context) => {
    const { id, page } = validateParameters(pageOfDocument, context.req.param())
    const { near, row } = validate(placeInSheet, context.req.query())
    const read = (scope: Scope): Promise<PageText> => {
      if (row !== undefined) return getPageNear(scope, id, page, { row })
      return near === undefined ? getPageText(scope, id, page) : getPageNear(scope, id, page, { near })
    }
    return context.json(await database.asUser(context.get('claims'), read, { readOnly: true }))
  })

  routes.get('/:id/report', async (context) => {
    const { id } = validateParameters(documentId, context.req.param())
    return context.json(
      await database.asUser(context.get('claims'), (scope) => getReadingReport(scope, id), { readOnly: true }),
    )
  })

  routes.patch('/:id', async (context) => {
    const { id } = validateParameters(documentId, context.req.param())
    const { filename } = await readBody(context, changes)
    const renamed = await database.asUser(context.get('claims'), (scope) => renameDocument(scope, id, filename))
    if (renamed.state === 'ready') jobs.enqueue(REINDEX_JOB, { key: id, data: { documentId: id } })
    return context.json(renamed)
  })

  routes.post('/:id/move', async (context) => {
    const { id } = validateParameters(documentId, context.req.param())
    const { space } = await readBody(context, spaceMove)
    const move = async (scope: Scope) => {
      await moveDocument(scope, id, space)
      return getDocument(scope, id)
    }
    const moved = await retryDeadlock(() => database.asUser(context.get('claims'), move))
    if (moved.state === 'ready') jobs.enqueue(REINDEX_JOB, { key: id, data: { documentId: id } })
    return context.json(moved)
  })

  routes.post('/:id/copy', async (context) => {
    const { id } = validateParameters(documentId, context.req.param())
    const { space } = await readBody(context, spaceMove)
    const copy = async (scope: Scope) => getDocument(scope, await copyDocument(scope, id, space))
    const copied = await retryDeadlock(() => database.asUser(context.get('claims'), copy))
    if (copied.state === 'ready') jobs.enqueue(REINDEX_JOB, { key: copied.id, data: { documentId: copied.id } })
    return context.json(copied, 201)
  })

  routes.delete('/:id', async (context) => {
    const { id } = validateParameters(documentId, context.req.param())
    await database.asUser(context.get('claims'), (scope) => deleteDocument(scope, id))
    jobs.enqueue(DISCARD_JOB, DISCARD_REQUEST)
    return context.body(null, 204)
  })

  return routes
}
