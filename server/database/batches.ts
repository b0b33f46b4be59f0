/** Sweeps delete in batches, so that no statement holds many locks or runs for long. */

const BATCH_ROWS = 5_000

/**
 * SQL condition on the rows of a table that one batch deletes. A row that is updated meanwhile stays for the next sweep.
 * @param rows table and condition, as after `from`
 */
export const inBatch = (rows: string): string => `ctid = any (array(select ctid from ${rows} limit ${BATCH_ROWS}))`

/** Repeats a batch, each in a transaction of its own, until one finds fewer rows than it may delete. */
export async function deleteInBatches(deleteBatch: () => Promise<{ readonly rowCount: number | null }>): Promise<void> {
  for (;;) {
    const { rowCount } = await deleteBatch()
    if ((rowCount ?? 0) < BATCH_ROWS) return
  }
}
