import type { Context } from 'hono'
import { parseJson } from '#server/base/json.ts'
import { StorageError } from './errors.ts'

const MAX_JSON_BYTES = 1_048_576

/** An empty body, as in a DELETE, is an empty object. @throws StorageError `EntityTooLarge`, AppError `bad_request` */
export async function readJson(context: Context): Promise<unknown> {
  const body: ReadableStream<Uint8Array> | null = context.req.raw.body
  if (!body) return {}
  const decoder = new TextDecoder()
  let text = ''
  let size = 0
  for await (const chunk of body) {
    size += chunk.byteLength
    if (size > MAX_JSON_BYTES) {
      throw new StorageError('EntityTooLarge', 'The request body is too large', { headers: { Connection: 'close' } })
    }
    text += decoder.decode(chunk, { stream: true })
  }
  text += decoder.decode()
  return text === '' ? {} : parseJson(text)
}
