/** Parses a raw body or a form up to the start of the file's bytes. */
import { Readable } from 'node:stream'
import type { HttpBindings } from '@hono/node-server'
import busboy from 'busboy'
import type { Context } from 'hono'
import { z } from 'zod'
import { messageOf } from '#server/base/errors.ts'
import { parseJson } from '#server/base/json.ts'
import { StorageError } from './errors.ts'
import { headerTextSchema } from './header-text.ts'

export interface UploadedFile {
  /** As the client declared it. */
  readonly mimetype: string
  readonly cacheControl: string
  readonly userMetadata: Record<string, unknown>
  /** The actual bytes may exceed it. */
  readonly declaredBytes: number | undefined
  readonly bytes: Readable
  /** Call it if the bytes are not read to the end, so that the rest of the request drains. */
  readonly stopReading: () => void
}

/** Reading Node's request directly avoids a web stream. */
export interface NodeBindings {
  Bindings: Partial<HttpBindings>
}

const DEFAULT_CACHE_CONTROL = 'no-cache'
const MAX_METADATA_BYTES = 1_048_576
/** Repeated in error messages; valid ones are shorter. */
const MAX_TYPE_LENGTH = 256

const userMetadataSchema = z.record(z.string(), z.unknown())

const parseCacheControl = (value: string | undefined) => headerTextSchema.safeParse(value).data ?? DEFAULT_CACHE_CONTROL

/** @throws StorageError `InvalidRequest` */
function parseUserMetadata(json: string): Record<string, unknown> {
  try {
    return userMetadataSchema.parse(parseJson(json))
  } catch (error) {
    throw new StorageError('InvalidRequest', 'The metadata must be a JSON object', { cause: error })
  }
}

function openBody(context: Context<NodeBindings>): Readable {
  const { incoming } = context.env
  if (incoming) return incoming
  const { body } = context.req.raw
  return body ? Readable.fromWeb(body) : Readable.from([])
}

/** @throws StorageError `InvalidRequest` */
export async function parseUpload(context: Context<NodeBindings>): Promise<UploadedFile> {
  const contentType = context.req.header('content-type') ?? 'application/octet-stream'
  if (/^multipart\/form-data\b/i.test(contentType)) return parseForm(context, contentType)
  const declared = context.req.header('content-length')
  const metadata = context.req.header('x-metadata')
  return {
    mimetype: contentType,
    cacheControl: parseCacheControl(context.req.header('cache-control')),
    userMetadata: metadata === undefined ? {} : parseUserMetadata(Buffer.from(metadata, 'base64').toString('utf8')),
    declaredBytes: declared === undefined ? undefined : Number(declared),
    bytes: openBody(context),
    stopReading: () => undefined,
  }
}

const malformedForm = (cause: unknown) =>
  new StorageError('InvalidRequest', `The form is not well-formed: ${messageOf(cause)}`, { cause })

/** Returns the first file of the form; only fields before it apply. */
function parseForm(context: Context<NodeBindings>, contentType: string): Promise<UploadedFile> {
  return new Promise((resolve, reject) => {
    const source = openBody(context)
    const fields = new Map<string, string>()
    let file: Readable | undefined
    const fail = (error: unknown) => {
      source.unpipe(parser)
      file?.destroy(malformedForm(error))
      reject(malformedForm(error))
    }
    const parser = createFormParser(contentType)
    parser.on('field', (name, value) => fields.set(name, value))
    parser.on('file', (_field, stream, { mimeType }) => {
      if (file) {
        stream.on('error', fail).resume()
        return
      }
      file = stream
      // An error before the reader listens must not be unhandled.
      stream.on('error', () => undefined)
      const stopReading = () => source.unpipe(parser)
      try {
        resolve({
          ...readFormFields(fields, mimeType),
          declaredBytes: undefined,
          bytes: stream,
          stopReading: stopReading,
        })
      } catch (error) {
        stopReading()
        reject(error instanceof Error ? error : malformedForm(error))
      }
    })
    parser.on('error', fail)
    parser.once('close', () => reject(new StorageError('InvalidRequest', 'No content provided')))
    source.once('error', fail)
    source.once('close', () => source.readableEnded || fail(new Error('the connection was closed')))
    source.pipe(parser)
  })
}

function createFormParser(contentType: string): busboy.Busboy {
  try {
    return busboy({
      headers: { 'content-type': contentType },
      defParamCharset: 'utf8',
      limits: { fields: 20, fieldSize: MAX_METADATA_BYTES, files: 10 },
    })
  } catch (error) {
    throw malformedForm(error)
  }
}

function readFormFields(fields: ReadonlyMap<string, string>, mimeType: string) {
  const cacheControl = fields.get('cacheControl')
  const metadata = fields.get('metadata') ?? fields.get('userMetadata')
  return {
    mimetype: fields.get('contentType')?.slice(0, MAX_TYPE_LENGTH) ?? mimeType,
    cacheControl: parseCacheControl(cacheControl === undefined ? undefined : `max-age=${cacheControl}`),
    userMetadata: metadata === undefined ? {} : parseUserMetadata(metadata),
  }
}
