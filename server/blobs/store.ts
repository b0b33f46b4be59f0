import type { Readable } from 'node:stream'

/** Both ends inclusive, as in an HTTP range. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/** Stores uploaded bytes under random ids; names that people choose never become paths. */
export interface BlobStore {
  /**
   * Stores the complete stream or nothing; resolves when the bytes are durable.
   *
   * @param id of bytes that are restored from a backup; a random one without
   */
  put(bytes: Readable, id?: string): Promise<{ readonly id: string; readonly size: number }>
  open(id: string, range?: ByteRange): Promise<Readable>
  /** Streams into the reader's own buffers. Only the disk store has this. */
  stream?(id: string, range: ByteRange): Promise<ReadableStream<Uint8Array>>
  /** Length in bytes. @throws AppError `not_found`, as `open` and `stream` */
  size(id: string): Promise<number>
  remove(id: string): Promise<void>
  list(): AsyncIterable<{ readonly id: string; readonly modifiedAt: Date }>
  /** Removes the parts of uploads that a crash cut off, if they began before. For stores whose `list` does not show them. */
  removeUnfinished?(before: Date): Promise<number>
}
