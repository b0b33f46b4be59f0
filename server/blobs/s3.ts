import { randomUUID } from 'node:crypto'
import { pipeline, type Readable, Transform } from 'node:stream'
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  paginateListObjectsV2,
} from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import { rejectOnFailure } from '#server/base/failure-scope.ts'
import { isBlobId, missingBlob, requireBlobId } from './id.ts'
import { createS3Client, isMissing, listUploads, readBody, type S3Options } from './s3-client.ts'
import type { BlobStore } from './store.ts'

/** The minimum of the protocol; each part in flight takes memory. */
const PART_BYTES = 5 * 1024 * 1024
const PARTS_AT_ONCE = 2

export function createS3Store(options: S3Options): BlobStore {
  const { bucket } = options
  const client = createS3Client(options)
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

  return {
    put,
    async open(id, range) {
      try {
        const wanted = range ? { Range: `bytes=${range.start}-${range.end}` } : {}
        return readBody(await client.send(new GetObjectCommand({ ...named(id), ...wanted })), options)
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
      for await (const { Key, UploadId, Initiated } of listUploads(client, bucket)) {
        if (Key === undefined || !isBlobId(Key) || !Initiated || Initiated >= before) continue
        await client.send(new AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId }))
        removed += 1
      }
      return removed
    },
  }
}
