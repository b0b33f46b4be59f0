import type { Log } from '#server/base/log.ts'
import type { BlobStore } from '#server/blobs/store.ts'
import { NO_BACKUP_RUNS } from '#server/database/backup-lock.ts'
import type { Database } from '#server/database/scope.ts'

const BATCH_SIZE = 200

/**
 * Returns the number of removed blobs. Safe to run concurrently: each entry is deleted after its bytes.
 * While a backup runs, everything stays.
 */
export async function removeDiscardedBytes(database: Database, blobs: BlobStore): Promise<number> {
  let removed = 0
  for (;;) {
    const { rows } = await database.serviceStatement<{ blob_id: string }>(
      `select blob_id from storage.discarded_blobs where ${NO_BACKUP_RUNS} order by discarded_at limit $1`,
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

/** The returned function starts a removal without waiting; the next call retries failed ones. */
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
