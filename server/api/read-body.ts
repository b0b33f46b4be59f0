import type { Context, MiddlewareHandler } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import type { z } from 'zod'
import { AppError } from '#server/base/errors.ts'
import { parseJson } from '#server/base/json.ts'
import { parseMediaType } from '#server/base/media-type.ts'
import { validate } from '#server/base/validate.ts'

/** Bytes of the longest message if every character is escaped. */
const MAX_BODY_BYTES = 2 * 1024 * 1024

const limitArrivingBody = bodyLimit({
  maxSize: MAX_BODY_BYTES,
  onError(context) {
    // The rest of the body stays unread, so the connection cannot serve another request.
    context.header('connection', 'close')
    throw new AppError('too_large', 'The request is larger than 2 MB.')
  },
})

/**
 * Rejects larger bodies while they arrive. Uploads go to disk and have their own limit. A request that no route of the
 * documents answers has been received there already.
 */
export const limitBody: MiddlewareHandler = (context, next) =>
  context.req.raw.bodyUsed ? next() : limitArrivingBody(context, next)

/** A browser sends any other type, and a body without one, from a form or script of any site without asking first. */
export function rejectUnlessJson({ req }: Context): void {
  const declared = req.header('content-type')
  const hasBody = req.header('transfer-encoding') !== undefined || Number(req.header('content-length') ?? 0) > 0
  if (declared === undefined ? !hasBody : parseMediaType(declared)?.type === 'application/json') return
  throw new AppError('unsupported_type', 'Send the body as JSON, with "Content-Type: application/json".')
}

/** Returns the media type with its boundary. @throws AppError `unsupported_type` with `message` */
export function requireForm({ req }: Context, message: string): string {
  const declared = req.header('content-type') ?? ''
  if (/^multipart\/form-data[\t ]*;/i.test(declared)) return declared
  throw new AppError('unsupported_type', message)
}

/** @throws AppError `unsupported_type` */
export const requireJson: MiddlewareHandler = async (context, next) => {
  rejectUnlessJson(context)
  await next()
}

/** @throws AppError `unsupported_type`, `bad_request` for invalid JSON, or naming the first invalid field. */
export async function readBody<Schema extends z.ZodType>(context: Context, schema: Schema): Promise<z.output<Schema>> {
  rejectUnlessJson(context)
  return validate(schema, parseJson(await context.req.text()))
}
