import { Hono } from 'hono'
import { z } from 'zod'
import { requirePerson, type SignedIn } from '#server/access/authenticate.ts'
import { type Tokens } from '#server/access/tokens.ts'
import { APP_ERROR_STATUS, AppError, type AppErrorCode } from '#server/base/errors.ts'
import { type Log } from '#server/base/log.ts'
import { validate } from '#server/base/validate.ts'
import { DISCARD_JOB, DISCARD_REQUEST, REINDEX_JOB } from '#server/documents/ingest.ts'
import { deleteDocument, getDocument, getPageText, listDocuments, renameDocument } from '#server/documents/queries.ts'
import { serveFile } from '#server/documents/serve-file.ts'
import { receiveUpload, type UploadParts } from '#server/documents/upload.ts'
import { renderApiError } from './render-error.ts'

export interface DocumentRoutesParts extends UploadParts {
  readonly tokens: Tokens
  readonly log: Log
}

const documentId = z.object({ id: z.uuid() })
const pageOfDocument = z.object({ id: z.uuid(), page: z.coerce.number().int().positive() })
const changes = z.object({ filename: z.string().trim().min(1).max(255) })

/** An id that is none names no document, rather than being a mistake of the request. */
function parameters<Schema extends z.ZodType>(schema: Schema, given: unknown): z.output<Schema> {
  const parsed = schema.safeParse(given)
  if (!parsed.success) throw new AppError('not_found', 'There is no such document.', { cause: parsed.error })
  return parsed.data
}

const codeOfStatus = (status: number): AppErrorCode => {
  for (const code of ['too_large', 'unsupported_type', 'empty'] as const)
    if (APP_ERROR_STATUS[code] === status) return code
  return 'bad_request'
}

/** `/api/documents`, for who is signed in; every row is read and written with that person's rights. */
export function createDocumentRoutes(parts: DocumentRoutesParts): Hono<SignedIn> {
  const { database, tokens, blobs, jobs, log } = parts
  const routes = new Hono<SignedIn>()
  routes.onError(renderApiError(log))
  routes.use(requirePerson(tokens))

  routes.post('/', async (context) => {
    const body = context.req.raw.body
    const contentType = context.req.header('content-type')
    if (body === null || contentType === undefined)
      throw new AppError('bad_request', 'Upload files as multipart/form-data.')
    const { documents, rejected, isCreated } = await receiveUpload(
      { claims: context.get('claims'), contentType, body },
      parts,
    )
    const [first] = rejected
    if (documents.length === 0 && first) {
      const error = { code: codeOfStatus(first.status), message: first.message }
      return Response.json({ documents, rejected, error }, { status: first.status })
    }
    return Response.json({ documents, rejected }, { status: isCreated ? 201 : 200 })
  })

  routes.get('/', async (context) =>
    context.json(await database.asUser(context.get('claims'), listDocuments, { readOnly: true })),
  )

  routes.get('/:id', async (context) => {
    const { id } = parameters(documentId, context.req.param())
    return context.json(
      await database.asUser(context.get('claims'), (scope) => getDocument(scope, id), { readOnly: true }),
    )
  })

  routes.get('/:id/file', async (context) => {
    const { id } = parameters(documentId, context.req.param())
    return serveFile({ database, blobs }, context.get('claims'), id, context.req.raw)
  })

  routes.get('/:id/pages/:page', async (context) => {
    const { id, page } = parameters(pageOfDocument, context.req.param())
    return context.json(
      await database.asUser(context.get('claims'), (scope) => getPageText(scope, id, page), { readOnly: true }),
    )
  })

  routes.patch('/:id', async (context) => {
    const { id } = parameters(documentId, context.req.param())
    const { filename } = validate(changes, await context.req.json().catch(() => undefined))
    const renamed = await database.asUser(context.get('claims'), (scope) => renameDocument(scope, id, filename))
    if (renamed.state === 'ready') jobs.enqueue(REINDEX_JOB, { key: id, data: { documentId: id } })
    return context.json(renamed)
  })

  routes.delete('/:id', async (context) => {
    const { id } = parameters(documentId, context.req.param())
    await database.asUser(context.get('claims'), (scope) => deleteDocument(scope, id))
    jobs.enqueue(DISCARD_JOB, DISCARD_REQUEST)
    return context.body(null, 204)
  })

  return routes
}
