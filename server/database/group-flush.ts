import type pg from 'pg'

// A commit that notifies nobody: the disk writes it together with everything before it.
const FLUSH = `select pg_logical_emit_message(true, 'alcove', '')`

/**
 * Creates a function that resolves when everything committed before the call is durable. Calls that come while a flush is
 * under way share the next one. It rejects where the flush failed and commits may be lost.
 */
export function createGroupFlush(pool: pg.Pool): () => Promise<void> {
  let next: Promise<void> | undefined
  let last: Promise<unknown> = Promise.resolve()

  async function start(): Promise<void> {
    await last
    const client = await pool.connect().finally(() => (next = undefined))
    const flushed = client.query(FLUSH)
    last = flushed.catch(() => undefined)
    await flushed.then(
      () => client.release(),
      (error: unknown) => {
        client.release(true)
        throw error
      },
    )
  }

  return () => (next ??= start())
}
