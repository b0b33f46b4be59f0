import { type Readable } from 'node:stream'

/** Both ends inclusive, as in an HTTP range. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/** Stores uploaded bytes under random ids; names that people choose never become paths. */
export interface BlobStore {
  /** Stores the whole stream or nothing; resolves when the bytes are durable. */
  put(bytes: Readable): Promise<{ readonly id: string; readonly size: number }>
  /** @throws AppError `not_found` */
  open(id: string, range?: ByteRange): Promise<Readable>
  /**
   * Streams a range, at least one byte, into the reader's own buffers. Only the disk store has this.
   * @throws AppError `not_found`
   */
  stream?(id: string, range: ByteRange): Promise<ReadableStream<Uint8Array>>
  /** Length in bytes. @throws AppError `not_found` */
  size(id: string): Promise<number>
  /** Idempotent. */
  remove(id: string): Promise<void>
  /** All blobs, unfinished ones included, in any order. */
  list(): AsyncIterable<{ readonly id: string; readonly modifiedAt: Date }>
}
