/** The database as realtime uses it: the same reads for many people, in one transaction and one round trip. */
import type pg from 'pg'
import { prepared } from './prepared.ts'
import { type ApiRole, type Claims, type Statement } from './scope.ts'
import { endReadOnly } from './transactions.ts'

/** One statement and the person who reads. */
export interface UserRead extends Statement {
  readonly claims: Claims
}

export interface BatchReader {
  /**
   * Runs each read with its own claims. Results come in the order of the reads.
   * @throws the first failure: where one read fails, all do.
   */
  readAsEach(role: ApiRole, reads: readonly UserRead[]): Promise<pg.QueryResult<pg.QueryResultRow>[]>
}

// The role as well: a function of the read before may have changed it.
const BECOME = `select set_config('role', $1, true), set_config('request.jwt.claims', $2, true)`

export const createBatchReader = (pool: pg.Pool): BatchReader => ({
  async readAsEach(role, reads) {
    const client = await pool.connect()
    const answers: Promise<pg.QueryResult<pg.QueryResultRow>>[] = []
    const sent: Promise<unknown>[] = [client.query('begin read only')]
    for (const { claims, text, values } of reads) {
      // Where this fails the transaction is aborted, so no read runs with the claims of another.
      sent.push(client.query(prepared(BECOME, [role, JSON.stringify(claims)])))
      const answer = client.query<pg.QueryResultRow>(prepared(text, values))
      answers.push(answer)
      sent.push(answer)
    }
    endReadOnly(client)
    // In the order of sending: the first failure is the cause of the others.
    for (const step of await Promise.allSettled(sent)) if (step.status === 'rejected') throw step.reason
    return Promise.all(answers)
  },
})
