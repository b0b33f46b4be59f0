import { Readable } from 'node:stream'
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  paginateListObjectsV2,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import { AppError } from '#server/base/errors.ts'
import type { S3Options } from '#server/blobs/s3.ts'
import { collectPassed } from './collect-buffers.ts'
import type { BackupTarget } from './target.ts'

/** An upload has at most 10,000 parts, so a file may have 80 GB. A part takes its size twice while it is put together. */
const PART_BYTES = 8 * 1024 * 1024
const PARTS_AT_ONCE = 1

const CONNECTION_TIMEOUT_MS = 10_000
const IDLE_TIMEOUT_MS = 120_000

/** @param prefix of all keys, empty or ending with `/` */
export function openS3Target(
  { endpoint, bucket, region, accessKey, secretKey }: S3Options,
  prefix: string,
): BackupTarget {
  const client = new S3Client({
    // A store that says nothing any more would hold the lock of the backup for ever.
    requestHandler: { connectionTimeout: CONNECTION_TIMEOUT_MS, socketTimeout: IDLE_TIMEOUT_MS },
    endpoint,
    region,
    // Virtual-hosted buckets would need a DNS name for each.
    forcePathStyle: true,
    credentials: { accessKeyId: accessKey, secretAccessKey: secretKey },
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  })
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
        const { Body: body } = await client.send(new GetObjectCommand(named(name)))
        if (body instanceof Readable) return body
        throw new TypeError('the store answered without bytes')
      } catch (error) {
        if (!(error instanceof S3ServiceException) || error.$metadata.httpStatusCode !== 404) throw error
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
      for (let after = {}; ;) {
        const page = await client.send(new ListMultipartUploadsCommand({ Bucket: bucket, Prefix: prefix, ...after }))
        for (const { Key, UploadId } of page.Uploads ?? [])
          // The prefix is checked again, since some stores ignore it.
          if (Key?.startsWith(prefix) && isBackupName(Key.slice(prefix.length)))
            await client.send(new AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId }))
        if (page.IsTruncated !== true) return
        after = { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker }
      }
    },
  }
}

/** Other programs may use the bucket too. */
const isBackupName = (name: string): boolean => /^(alcove-backups\.json$|blobs\/|\d{4}-\d\d-\d\dT[\d-]+Z\/)/.test(name)
