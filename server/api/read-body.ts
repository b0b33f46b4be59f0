import type { Context } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import type { z } from 'zod'
import { AppError } from '#server/base/errors.ts'
import { parseJson } from '#server/base/json.ts'
import { validate } from '#server/base/validate.ts'

/** Bytes of the longest message if every character is escaped. */
const MAX_BODY_BYTES = 2 * 1024 * 1024

/** Rejects larger bodies while they arrive. Uploads go to disk and have their own limit. */
export const limitBody = bodyLimit({
  maxSize: MAX_BODY_BYTES,
  onError(context) {
    // The rest of the body stays unread, so the connection cannot serve another request.
    context.header('connection', 'close')
    throw new AppError('too_large', 'The request is larger than 2 MB.')
  },
})

/** @throws AppError `bad_request` for invalid JSON, or naming the first invalid field. */
export async function readBody<Schema extends z.ZodType>(context: Context, schema: Schema): Promise<z.output<Schema>> {
  return validate(schema, parseJson(await context.req.text()))
}
