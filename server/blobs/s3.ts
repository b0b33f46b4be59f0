import { randomUUID } from 'node:crypto'
import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { pipeline, Readable, Transform } from 'node:stream'
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  paginateListObjectsV2,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import { rejectOnFailure } from '#server/base/failure-scope.ts'
import { guardAgent } from '#server/base/guard-agent.ts'
import { guardStream } from '#server/base/guard-events.ts'
import { isBlobId, missingBlob, requireBlobId } from './id.ts'
import type { BlobStore } from './store.ts'

export interface S3Options {
  readonly endpoint: string
  readonly bucket: string
  readonly region: string
  readonly accessKey: string
  readonly secretKey: string
}

/** The minimum of the protocol; each part in flight takes memory. */
const PART_BYTES = 5 * 1024 * 1024
const PARTS_AT_ONCE = 2
/** Those of the client's own agents. */
const AGENT_OPTIONS = { keepAlive: true, maxSockets: 50 }

const isMissing = (error: unknown): boolean =>
  error instanceof S3ServiceException && error.$metadata.httpStatusCode === 404

export function createS3Store({ endpoint, bucket, region, accessKey, secretKey }: S3Options): BlobStore {
  const [httpAgent, httpsAgent] = [new HttpAgent(AGENT_OPTIONS), new HttpsAgent(AGENT_OPTIONS)]
  guardAgent(httpAgent)
  guardAgent(httpsAgent)
  const client = new S3Client({
    requestHandler: { httpAgent, httpsAgent },
    endpoint,
    region,
    // Virtual-hosted buckets would need a DNS name for each.
    forcePathStyle: true,
    credentials: { accessKeyId: accessKey, secretAccessKey: secretKey },
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  })
  const named = (id: string) => ({ Bucket: bucket, Key: requireBlobId(id) })

  async function put(bytes: Readable, given?: string): Promise<{ id: string; size: number }> {
    const id = given ?? randomUUID()
    let size = 0
    const counting = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        size += chunk.byteLength
        done(null, chunk)
      },
    })
    // A failure of the source fails the upload, which then removes its parts and reports it.
    pipeline(bytes, counting, () => undefined)
    const upload = new Upload({
      client,
      params: { ...named(id), Body: counting },
      partSize: PART_BYTES,
      queueSize: PARTS_AT_ONCE,
    })
    await rejectOnFailure((failed) => {
      failed.addEventListener('abort', () => void upload.abort())
      return upload.done()
    })
    return { id, size }
  }

  async function* listUploads() {
    for (let after = {}; ;) {
      const page = await client.send(new ListMultipartUploadsCommand({ Bucket: bucket, ...after }))
      yield* page.Uploads ?? []
      if (page.IsTruncated !== true) return
      after = { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker }
    }
  }

  return {
    put,
    async open(id, range) {
      try {
        const { Body: body } = await client.send(
          new GetObjectCommand({ ...named(id), ...(range ? { Range: `bytes=${range.start}-${range.end}` } : {}) }),
        )
        if (body instanceof Readable) {
          guardStream(body)
          return body
        }
        throw new TypeError('the store answered without bytes')
      } catch (error) {
        throw isMissing(error) ? missingBlob(id, error) : error
      }
    },
    async size(id) {
      try {
        return (await client.send(new HeadObjectCommand(named(id)))).ContentLength ?? 0
      } catch (error) {
        throw isMissing(error) ? missingBlob(id, error) : error
      }
    },
    async remove(id) {
      await client.send(new DeleteObjectCommand(named(id)))
    },
    async *list() {
      for await (const { Contents: found = [] } of paginateListObjectsV2({ client }, { Bucket: bucket })) {
        for (const { Key: id, LastModified: modifiedAt } of found)
          if (id !== undefined && modifiedAt && isBlobId(id)) yield { id, modifiedAt }
      }
    },
    async removeUnfinished(before) {
      let removed = 0
      for await (const { Key, UploadId, Initiated } of listUploads()) {
        if (Key === undefined || !isBlobId(Key) || !Initiated || Initiated >= before) continue
        await client.send(new AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId }))
        removed += 1
      }
      return removed
    },
  }
}
