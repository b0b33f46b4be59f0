import { type Context } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { type z } from 'zod'
import { AppError } from '#server/base/errors.ts'
import { parseJson } from '#server/base/json.ts'
import { validate } from '#server/base/validate.ts'

/** The longest message takes this many bytes where every character is written as an escape. */
const LARGEST_BODY_BYTES = 2 * 1024 * 1024

/** Refuses larger bodies while they arrive: not for uploads, which go to disk. */
export const limitBody = bodyLimit({
  maxSize: LARGEST_BODY_BYTES,
  onError(context) {
    // The rest of the body is not read, so the connection cannot serve another request.
    context.header('connection', 'close')
    throw new AppError('too_large', 'The request is larger than 2 MB.')
  },
})

/** @throws AppError `bad_request`: no JSON, or the first field that does not fit. */
export async function readBody<Schema extends z.ZodType>(context: Context, schema: Schema): Promise<z.output<Schema>> {
  return validate(schema, parseJson(await context.req.text()))
}
