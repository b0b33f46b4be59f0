import type pg from 'pg'

// A commit without a notification: one disk write flushes it together with everything before it.
const FLUSH = `select pg_logical_emit_message(true, 'alcove', '')`

/** Resolves when everything committed before the call is durable; rejects if commits may be lost. */
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
