/** The S3 client of blobs and backups: what a store that falls silent holds up ends in bounded time. */
import { Agent as HttpAgent, IncomingMessage } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import type { Readable } from 'node:stream'
import {
  type GetObjectCommandOutput,
  ListMultipartUploadsCommand,
  type MultipartUpload,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3'
import { guardAgent } from '#server/base/guard-agent.ts'
import { guardStream } from '#server/base/guard-events.ts'

export interface S3Options {
  readonly endpoint: string
  readonly bucket: string
  readonly region: string
  readonly accessKey: string
  readonly secretKey: string
  readonly limits?: Partial<S3Limits>
}

/** Milliseconds. The client makes three attempts. */
export interface S3Limits {
  readonly connect: number
  /** Until the answer begins; sending a part of a file is in it. */
  readonly answer: number
  /** Without a byte of the file that is being read. */
  readonly idle: number
}

const LIMITS: S3Limits = { connect: 10_000, answer: 300_000, idle: 120_000 }

/** Those of the client's own agents. */
const AGENT_OPTIONS = { keepAlive: true, maxSockets: 50 }

export function createS3Client({ endpoint, region, accessKey, secretKey, limits }: S3Options): S3Client {
  const [httpAgent, httpsAgent] = [new HttpAgent(AGENT_OPTIONS), new HttpsAgent(AGENT_OPTIONS)]
  guardAgent(httpAgent)
  guardAgent(httpsAgent)
  const { connect, answer } = { ...LIMITS, ...limits }
  return new S3Client({
    // Its `socketTimeout` would also end a download that a person has paused.
    requestHandler: {
      httpAgent,
      httpsAgent,
      connectionTimeout: connect,
      requestTimeout: answer,
      throwOnRequestTimeout: true,
    },
    endpoint,
    region,
    // Virtual-hosted buckets would need a DNS name for each.
    forcePathStyle: true,
    credentials: { accessKeyId: accessKey, secretAccessKey: secretKey },
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  })
}

export const isMissing = (error: unknown): boolean =>
  error instanceof S3ServiceException && error.$metadata.httpStatusCode === 404

/** The bytes of an answer, which fail when the store sends none for too long. A slow reader may take its time. */
export function readBody({ Body: body }: GetObjectCommandOutput, { limits }: Pick<S3Options, 'limits'>): Readable {
  if (!(body instanceof IncomingMessage)) throw new TypeError('the store answered without bytes')
  guardStream(body)
  const { socket } = body
  const { idle } = { ...LIMITS, ...limits }
  const onIdle = () => {
    if (body.readableLength === 0) body.destroy(new Error(`the store sent nothing for ${idle} ms`))
    // It ends with the first time.
    else socket.setTimeout(idle)
  }
  socket.setTimeout(idle, onIdle)
  body.once('close', () => {
    socket.off('timeout', onIdle)
    socket.setTimeout(0)
  })
  return body
}

/** Uploads in parts that were not completed. */
export async function* listUploads(client: S3Client, bucket: string, prefix?: string): AsyncGenerator<MultipartUpload> {
  for (let after = {}; ;) {
    const page = await client.send(new ListMultipartUploadsCommand({ Bucket: bucket, Prefix: prefix, ...after }))
    yield* page.Uploads ?? []
    if (page.IsTruncated !== true) return
    after = { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker }
  }
}
