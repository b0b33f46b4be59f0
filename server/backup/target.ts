import type { Readable } from 'node:stream'

export interface StoredFile {
  readonly name: string
  readonly bytes: number
}

/** Where backups are written to. Names are relative paths with `/`. */
export interface BackupTarget {
  /** As people name it: a folder or s3://bucket/prefix. */
  readonly address: string
  /** Stores the complete bytes under the name or nothing; resolves when they are durable. @returns their number */
  write(name: string, bytes: AsyncIterable<Buffer>): Promise<number>
  /** @throws AppError `not_found` */
  read(name: string): Promise<Readable>
  /** All files whose names begin with the prefix, in no order; without those that are being written. */
  list(prefix: string): AsyncIterable<StoredFile>
  remove(name: string): Promise<void>
  /** Removes what writes left that a crash cut off. */
  removeUnfinished(): Promise<void>
}
