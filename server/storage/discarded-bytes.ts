/** Removes from the blob store what no object holds any more. */
import { type BlobStore } from '#server/blobs/store.ts'
import { type Log } from '#server/base/log.ts'
import { type Database } from '#server/database/scope.ts'

const BATCH_SIZE = 200

/**
 * Removes all discarded bytes; resolves with their number. Several at once do no harm: removing is idempotent, and an
 * entry goes only after its bytes.
 */
export async function removeDiscardedBytes(database: Database, blobs: BlobStore): Promise<number> {
  let removed = 0
  for (;;) {
    const { rows } = await database.serviceStatement<{ blob_id: string }>(
      'select blob_id from storage.discarded_blobs order by discarded_at limit $1',
      [BATCH_SIZE],
    )
    if (rows.length === 0) return removed
    for (const { blob_id: id } of rows) await blobs.remove(id)
    await database.serviceStatement('delete from storage.discarded_blobs where blob_id = any($1)', [
      rows.map((row) => row.blob_id),
    ])
    removed += rows.length
  }
}

/** A function to call after a change: nobody waits for the removal, and what fails now is removed after the next one. */
export function createBackgroundRemoval(database: Database, blobs: BlobStore, log: Log): () => void {
  let running: Promise<unknown> | undefined
  let mustRunAgain = false
  return function discard() {
    if (running) {
      mustRunAgain = true
      return
    }
    running = removeDiscardedBytes(database, blobs)
      .catch((error: unknown) => log.warn({ err: error }, 'removed objects still occupy their place'))
      .finally(() => {
        running = undefined
        if (mustRunAgain) {
          mustRunAgain = false
          discard()
        }
      })
  }
}
