/** The body of an upload, raw or as a form, up to where its bytes begin. */
import { Readable } from 'node:stream'
import busboy from 'busboy'
import { type HttpBindings } from '@hono/node-server'
import { type Context } from 'hono'
import { z } from 'zod'
import { messageOf } from '#server/base/errors.ts'
import { parseJson } from '#server/base/json.ts'
import { StorageError } from './errors.ts'
import { headerText } from './header-text.ts'

export interface IncomingFile {
  readonly mimetype: string
  /** Value of the header with which the object will be served. */
  readonly cacheControl: string
  readonly userMetadata: Record<string, unknown>
  /** Length of the bytes where the sender says it: a claim, to be counted after. */
  readonly declaredBytes: number | undefined
  readonly bytes: Readable
  /** To be called where the bytes are not read to their end: the rest of the request then runs out by itself. */
  readonly abandon: () => void
}

/** On Node's own server the request itself is at hand: read so, its bytes pass through no web stream. */
export interface NodeBindings {
  Bindings: Partial<HttpBindings>
}

const DEFAULT_CACHE_CONTROL = 'no-cache'
const MAX_METADATA_BYTES = 1_048_576

const userMetadata = z.record(z.string(), z.unknown())

/** What goes out in a header again must fit into one. */
function requireMimetype(given: string): string {
  if (headerText.safeParse(given).success) return given
  throw new StorageError('InvalidMimeType', 'Invalid Content-Type header')
}

const cacheControlOf = (given: string | undefined) => headerText.safeParse(given).data ?? DEFAULT_CACHE_CONTROL

/** @throws StorageError `InvalidRequest` */
function parseUserMetadata(json: string): Record<string, unknown> {
  try {
    return userMetadata.parse(parseJson(json))
  } catch (error) {
    throw new StorageError('InvalidRequest', 'The metadata must be a JSON object', { cause: error })
  }
}

function bodyOf(context: Context<NodeBindings>): Readable {
  const { incoming } = context.env
  if (incoming) return incoming
  const { body } = context.req.raw
  return body ? Readable.fromWeb(body) : Readable.from([])
}

/** @throws StorageError `InvalidRequest`, `InvalidMimeType` */
export async function receiveFile(context: Context<NodeBindings>): Promise<IncomingFile> {
  const contentType = context.req.header('content-type') ?? 'application/octet-stream'
  if (/^multipart\/form-data\b/i.test(contentType)) return receiveForm(context, contentType)
  const declared = context.req.header('content-length')
  const metadata = context.req.header('x-metadata')
  return {
    mimetype: requireMimetype(contentType),
    cacheControl: cacheControlOf(context.req.header('cache-control')),
    userMetadata: metadata === undefined ? {} : parseUserMetadata(Buffer.from(metadata, 'base64').toString('utf8')),
    declaredBytes: declared === undefined ? undefined : Number(declared),
    bytes: bodyOf(context),
    abandon: () => undefined,
  }
}

const breaksOff = (cause: unknown) =>
  new StorageError('InvalidRequest', `The form is not well-formed: ${messageOf(cause)}`, { cause })

/** The first file of the form; only fields that come before it count. */
function receiveForm(context: Context<NodeBindings>, contentType: string): Promise<IncomingFile> {
  return new Promise((resolve, reject) => {
    const source = bodyOf(context)
    const fields = new Map<string, string>()
    let file: Readable | undefined
    const fail = (error: unknown) => {
      source.unpipe(parser)
      file?.destroy(breaksOff(error))
      reject(breaksOff(error))
    }
    const parser = openParser(contentType)
    parser.on('field', (name, value) => fields.set(name, value))
    parser.on('file', (_field, stream, { mimeType }) => {
      if (file) {
        stream.resume()
        return
      }
      file = stream
      // Who stores the bytes hears of an error as well, but may not be listening yet.
      stream.on('error', () => undefined)
      const abandon = () => source.unpipe(parser)
      try {
        resolve({ ...describeForm(fields, mimeType), declaredBytes: undefined, bytes: stream, abandon })
      } catch (error) {
        abandon()
        reject(error instanceof Error ? error : breaksOff(error))
      }
    })
    parser.on('error', fail)
    parser.once('close', () => reject(new StorageError('InvalidRequest', 'No content provided')))
    source.once('error', fail)
    source.once('close', () => source.readableEnded || fail(new Error('the connection was closed')))
    source.pipe(parser)
  })
}

function openParser(contentType: string): busboy.Busboy {
  try {
    return busboy({
      headers: { 'content-type': contentType },
      defParamCharset: 'utf8',
      limits: { fields: 20, fieldSize: MAX_METADATA_BYTES, files: 10 },
    })
  } catch (error) {
    throw breaksOff(error)
  }
}

function describeForm(fields: ReadonlyMap<string, string>, mimeType: string) {
  const cacheControl = fields.get('cacheControl')
  const metadata = fields.get('metadata') ?? fields.get('userMetadata')
  return {
    mimetype: requireMimetype(fields.get('contentType') ?? mimeType),
    cacheControl: cacheControlOf(cacheControl === undefined ? undefined : `max-age=${cacheControl}`),
    userMetadata: metadata === undefined ? {} : parseUserMetadata(metadata),
  }
}
