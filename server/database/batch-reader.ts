import type pg from 'pg'
import { leaseConnection } from './pool.ts'
import { prepared } from './prepared.ts'
import type { ApiRole, Claims, Statement } from './scope.ts'
import { LOCK_TIMEOUT_MS, STATEMENT_TIMEOUT_MS } from './timeouts.ts'
import { endReadOnly } from './transactions.ts'

export interface UserRead extends Statement {
  readonly claims: Claims
}

export interface BatchReader {
  /** If one read fails, all fail. @throws the first failure */
  readAsEach(role: ApiRole, reads: readonly UserRead[]): Promise<pg.QueryResult<pg.QueryResultRow>[]>
}

// Each step sets the role too: a function that the previous read called may have changed it.
const BECOME = `select set_config('role', $1, true), set_config('request.jwt.claims', $2, true)`

// Policies decide what a read costs, so it ends as a person's statement does.
const BEGIN = `begin read only; set local statement_timeout = ${STATEMENT_TIMEOUT_MS}; set local lock_timeout = ${LOCK_TIMEOUT_MS}`

export const createBatchReader = (pool: pg.Pool): BatchReader => ({
  async readAsEach(role, reads) {
    const lease = await leaseConnection(pool)
    const { client } = lease
    const answers: Promise<pg.QueryResult<pg.QueryResultRow>>[] = []
    const sent: Promise<unknown>[] = [client.query(BEGIN)]
    for (const { claims, text, values } of reads) {
      // If this fails the transaction is aborted, so no read runs with another person's claims.
      sent.push(client.query(prepared(BECOME, [role, JSON.stringify(claims)])))
      const answer = client.query<pg.QueryResultRow>(prepared(text, values))
      answers.push(answer)
      sent.push(answer)
    }
    endReadOnly(lease)
    // The first failure in sending order causes the others.
    for (const step of await Promise.allSettled(sent)) if (step.status === 'rejected') throw step.reason
    return Promise.all(answers)
  },
})
