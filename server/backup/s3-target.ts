import { Readable } from 'node:stream'
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  paginateListObjectsV2,
} from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import { AppError } from '#server/base/errors.ts'
import { createS3Client, isMissing, listUploads, readBody, type S3Options } from '#server/blobs/s3-client.ts'
import { collectPassed } from './collect-buffers.ts'
import type { BackupTarget } from './target.ts'

/** An upload has at most 10,000 parts, so a file may have 80 GB. A part takes its size twice while it is put together. */
const PART_BYTES = 8 * 1024 * 1024
const PARTS_AT_ONCE = 1

/** @param prefix of all keys, empty or ending with `/` */
export function openS3Target(options: S3Options, prefix: string): BackupTarget {
  const { bucket } = options
  const client = createS3Client(options)
  const address = `s3://${bucket}/${prefix}`.replace(/\/$/, '')
  const named = (name: string) => ({ Bucket: bucket, Key: `${prefix}${name}` })

  return {
    address,
    async write(name, bytes) {
      let length = 0
      async function* counted() {
        for await (const chunk of bytes) {
          length += chunk.length
          // A second time: a part is put together in another buffer.
          collectPassed(chunk.length)
          yield chunk
        }
      }
      const source = Readable.from(counted(), { objectMode: false })
      await new Upload({
        client,
        params: { ...named(name), Body: source },
        partSize: PART_BYTES,
        queueSize: PARTS_AT_ONCE,
      }).done()
      return length
    },
    async read(name) {
      try {
        return readBody(await client.send(new GetObjectCommand(named(name))), options)
      } catch (error) {
        if (!isMissing(error)) throw error
        throw new AppError('not_found', `"${address}/${name}" is missing.`, { cause: error })
      }
    },
    async *list(beginning) {
      const pages = paginateListObjectsV2({ client }, { Bucket: bucket, Prefix: `${prefix}${beginning}` })
      for await (const { Contents: found = [] } of pages)
        for (const { Key: key, Size: bytes = 0 } of found)
          if (key?.startsWith(`${prefix}${beginning}`)) yield { name: key.slice(prefix.length), bytes }
    },
    async remove(name) {
      await client.send(new DeleteObjectCommand(named(name)))
    },
    async removeUnfinished() {
      for await (const { Key, UploadId } of listUploads(client, bucket, prefix))
        // The prefix is checked again, since some stores ignore it.
        if (Key?.startsWith(prefix) && isBackupName(Key.slice(prefix.length)))
          await client.send(new AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId }))
    },
  }
}

/** Other programs may use the bucket too. */
const isBackupName = (name: string): boolean => /^(alcove-backups\.json$|blobs\/|\d{4}-\d\d-\d\dT[\d-]+Z\/)/.test(name)
