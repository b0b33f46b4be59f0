import type { BlobStore } from '#server/blobs/store.ts'
import { type ShrunkImage, shrinkImage } from '#server/parsing/image/shrink-image.ts'

export type { ShrunkImage } from '#server/parsing/image/shrink-image.ts'

export interface PictureFile {
  readonly path: string
  readonly size: number
  readonly mimetype: string
}

/** @throws ParseFailure with a sentence for the owner, AppError `not_found`, or the reason of an aborted signal */
export type ViewPicture = (file: PictureFile, signal: AbortSignal) => Promise<ShrunkImage>

export const createPictureView =
  (blobs: BlobStore): ViewPicture =>
  ({ path, ...file }, signal) =>
    shrinkImage({ ...file, open: () => blobs.open(path), signal })
