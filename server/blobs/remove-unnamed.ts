import type { Log } from '#server/base/log.ts'
import type { BlobStore } from './store.ts'

/** For bytes whose row was not written. A failure must not hide the error that was the reason; the sweep removes the bytes. */
export async function removeUnnamed(
  { blobs, log }: { readonly blobs: BlobStore; readonly log: Log },
  blobId: string,
): Promise<void> {
  try {
    await blobs.remove(blobId)
  } catch (error) {
    log.warn({ err: error, blob: blobId }, 'the bytes of an upload that failed could not be removed')
  }
}
