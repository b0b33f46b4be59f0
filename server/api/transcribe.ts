/** `/api/transcribe`, and the key with which a browser may ask the provider itself. */
import { Readable } from 'node:stream'
import busboy from 'busboy'
import { Hono } from 'hono'
import { MAX_UPLOAD_BYTES } from '#contract/limits.ts'
import { requirePerson, type SignedIn } from '#server/access/authenticate.ts'
import { type TokenVerifier } from '#server/access/tokens.ts'
import { AppError } from '#server/base/errors.ts'
import { type Log } from '#server/base/log.ts'
import { type Recording, type Transcriber } from '#server/providers/transcribe.ts'
import { renderApiError } from './render-error.ts'

export interface VoiceRoutesParts {
  readonly tokens: TokenVerifier
  readonly log: Log
  /** Where people reach this server. */
  readonly address: string
  /** Null where no provider is configured. */
  readonly transcriber: Transcriber | null
  /** What the operator lets browsers have; null: nothing. */
  readonly browserAccess: { readonly apiKey: string; readonly baseUrl: string } | null
}

const FIELD = 'audio'
/** ISO 639-1, as the transcribing models take it. */
const LANGUAGE = /^[a-z]{2}$/

interface Received extends Recording {
  /** Gives up what has not been read. */
  discard(): void
}

/** Resolves with the recording once its part of the form begins. */
function receiveRecording(contentType: string, body: ReadableStream<Uint8Array>): Promise<Received> {
  return new Promise((resolve, reject) => {
    const missing = () => new AppError('bad_request', `Send a recording in the multipart field "${FIELD}".`)
    const malformed = (cause: unknown) =>
      new AppError('bad_request', 'The recording broke off or is not well-formed.', { cause })
    let parser: busboy.Busboy
    try {
      // A file that just fills the limit counts as cut off.
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
          if (size > MAX_UPLOAD_BYTES) throw new AppError('too_large', 'The recording is larger than 25 MB.')
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
        stream.resume()
        return
      }
      file = stream
      // What breaks it is thrown to its reader; where there is none any more, nobody needs to know.
      stream.on('error', () => undefined)
      resolve({ type: mimeType.toLowerCase(), language, bytes: read(stream), discard })
    })
    parser.on('error', fail)
    parser.once('close', () => reject(missing()))
    source.on('error', fail)
    source.pipe(parser)
  })
}

export function createVoiceRoutes({
  tokens,
  log,
  address,
  transcriber,
  browserAccess,
}: VoiceRoutesParts): Hono<SignedIn> {
  const routes = new Hono<SignedIn>()
  routes.onError(renderApiError(log))
  const person = requirePerson(tokens, address)

  routes.post('/transcribe', person, async (context) => {
    // The rest of a body that is refused is not read, so the connection cannot serve another request.
    context.header('connection', 'close')
    if (transcriber === null)
      throw new AppError('not_found', 'No provider that turns speech into text is configured on this server.')
    const { body, signal } = context.req.raw
    if (body === null) throw new AppError('bad_request', `Send a recording in the multipart field "${FIELD}".`)
    const recording = await receiveRecording(context.req.header('content-type') ?? '', body)
    try {
      if (!recording.type.startsWith('audio/')) throw new AppError('unsupported_type', 'Only audio is transcribed.')
      const text = await transcriber.transcribe(recording, signal)
      context.header('connection', undefined)
      return context.json({ text })
    } finally {
      recording.discard()
    }
  })

  routes.get('/openai/key', person, (context) => {
    if (browserAccess === null) throw new AppError('not_found', 'This server has no key that is meant for browsers.')
    return context.json(browserAccess, 200, { 'cache-control': 'no-store' })
  })

  return routes
}
