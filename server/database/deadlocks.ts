/** PostgreSQL ends one of the transactions that wait for each other, or that cannot be serialised. */
import pg from 'pg'

const ENDED_FOR_OTHERS = new Set(['40P01', '40001'])
const MAX_ATTEMPTS = 5

/** Runs a transaction again that PostgreSQL ended in favour of another. It must change nothing but rows. */
export async function retryDeadlock<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run()
    } catch (error) {
      const wasEnded = error instanceof pg.DatabaseError && ENDED_FOR_OTHERS.has(error.code ?? '')
      if (!wasEnded || attempt === MAX_ATTEMPTS) throw error
    }
  }
}
