import { type Readable } from 'node:stream'

/** Bytes from `start` to `end`, both inclusive, as in an HTTP range. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/** Where uploaded bytes rest. Ids are random and made here; no name that a person gave ever becomes a path. */
export interface BlobStore {
  /** Stores the whole stream or nothing: when this resolves, the bytes survive a crash. */
  put(bytes: Readable): Promise<{ readonly id: string; readonly size: number }>
  /** @throws AppError `not_found` */
  open(id: string, range?: ByteRange): Promise<Readable>
  /**
   * Part of them, at least one byte, as a byte stream, which is filled into its reader's memory: only where they are read
   * from a disk. @throws AppError `not_found`
   */
  stream?(id: string, range: ByteRange): Promise<ReadableStream<Uint8Array>>
  /** Length in bytes. @throws AppError `not_found` */
  size(id: string): Promise<number>
  /** Removing what is not there is no error. */
  remove(id: string): Promise<void>
  /** Everything that is stored, also what was never stored to its end, in any order. */
  list(): AsyncIterable<{ readonly id: string; readonly modifiedAt: Date }>
}
