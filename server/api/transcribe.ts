/** `/api/openai/key` returns the key with which browsers call the provider directly. */
import { Readable } from 'node:stream'
import busboy from 'busboy'
import { Hono, type MiddlewareHandler } from 'hono'
import { MAX_UPLOAD_BYTES, MAX_UPLOAD_LABEL } from '#contract/upload-limits.ts'
import type { AccessWatch } from '#server/access/access-watch.ts'
import { requirePerson, type SignedIn } from '#server/access/authenticate.ts'
import { endWithSession } from '#server/access/end-with-access.ts'
import type { TokenVerifier } from '#server/access/tokens.ts'
import { streamBody } from '#server/base/caller.ts'
import { AppError } from '#server/base/errors.ts'
import type { Log } from '#server/base/log.ts'
import type { Recording, Transcriber } from '#server/providers/transcribe.ts'
import { requireForm } from './read-body.ts'
import { renderApiError } from './render-error.ts'

export interface TranscriptionRoutesParts {
  readonly tokens: TokenVerifier
  readonly log: Log
  readonly address: string
  readonly accessWatch: AccessWatch
  /** Null if no provider is configured. */
  readonly transcriber: Transcriber | null
  /** Null unless the operator allows browsers to call the provider. */
  readonly browserAccess: { readonly apiKey: string; readonly baseUrl: string } | null
  /** Limits the requests of each caller; undefined: does not. */
  readonly takeTurn?: MiddlewareHandler | undefined
}

const FIELD = 'audio'
/** ISO 639-1. */
const LANGUAGE = /^[a-z]{2}$/

interface Received extends Recording {
  discard(): void
}

/** Resolves when the part with the recording begins. */
function receiveRecording(contentType: string, body: ReadableStream<Uint8Array>): Promise<Received> {
  return new Promise((resolve, reject) => {
    const missing = () => new AppError('bad_request', `Send a recording in the multipart field "${FIELD}".`)
    const malformed = (cause: unknown) =>
      new AppError('bad_request', 'The recording broke off or is not well-formed.', { cause })
    let parser: busboy.Busboy
    try {
      // Busboy treats a file of exactly the limit as truncated.
      const limits = { fileSize: MAX_UPLOAD_BYTES + 1, files: 1, fields: 10, fieldSize: 1024 }
      parser = busboy({ headers: { 'content-type': contentType }, limits })
    } catch (error) {
      reject(new AppError('bad_request', missing().message, { cause: error }))
      return
    }
    const source = Readable.fromWeb(body)
    const discard = () => {
      source.unpipe(parser)
      source.destroy()
    }
    let file: Readable | undefined
    const fail = (error: unknown) => {
      discard()
      file?.destroy(malformed(error))
      reject(malformed(error))
    }
    async function* read(stream: Readable) {
      let size = 0
      try {
        for await (const chunk of stream as AsyncIterable<Buffer>) {
          size += chunk.length
          if (size > MAX_UPLOAD_BYTES)
            throw new AppError('too_large', `The recording is larger than ${MAX_UPLOAD_LABEL}.`)
          yield chunk
        }
      } catch (error) {
        throw error instanceof AppError ? error : malformed(error)
      }
      if (size === 0) throw new AppError('empty', 'The recording is empty.')
    }
    let language: string | undefined
    parser.on('field', (field, value) => {
      if (field === 'language' && LANGUAGE.test(value)) language = value
    })
    parser.on('file', (field, stream, { mimeType }) => {
      if (field !== FIELD) {
        stream.on('error', fail).resume()
        return
      }
      file = stream
      // Without a reader, an error of the stream would be an uncaught exception.
      stream.on('error', () => undefined)
      resolve({ type: mimeType.toLowerCase(), language, bytes: read(stream), discard })
    })
    parser.on('error', fail)
    parser.once('close', () => reject(missing()))
    source.on('error', fail)
    source.pipe(parser)
  })
}

export function createTranscriptionRoutes({
  tokens,
  log,
  address,
  accessWatch,
  transcriber,
  browserAccess,
  takeTurn = (_context, next) => next(),
}: TranscriptionRoutesParts): Hono<SignedIn> {
  const routes = new Hono<SignedIn>()
  routes.onError(renderApiError(log))
  const person = requirePerson(tokens, address)

  routes.post('/transcribe', takeTurn, person, async (context) => {
    // A rejected request leaves its body unread, so its connection cannot be reused.
    context.header('connection', 'close')
    const contentType = requireForm(context, `Send a recording as multipart/form-data, in the field "${FIELD}".`)
    if (transcriber === null)
      throw new AppError('not_found', 'No provider that turns speech into text is configured on this server.')
    const { body, signal } = context.req.raw
    if (body === null) throw new AppError('bad_request', `Send a recording in the multipart field "${FIELD}".`)
    endWithSession(context, accessWatch, context.get('claims'))
    streamBody()
    const recording = await receiveRecording(contentType, body)
    try {
      if (!recording.type.startsWith('audio/')) throw new AppError('unsupported_type', 'Only audio is transcribed.')
      const text = await transcriber.transcribe(recording, signal)
      context.header('connection', undefined)
      return context.json({ text })
    } finally {
      recording.discard()
    }
  })

  routes.get('/openai/key', takeTurn, person, (context) => {
    if (browserAccess === null) throw new AppError('not_found', 'This server has no key that is meant for browsers.')
    return context.json(browserAccess, 200, { 'cache-control': 'no-store' })
  })

  return routes
}
