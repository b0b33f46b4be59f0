import type pg from 'pg'
import { leaseConnection } from './pool.ts'
import { prepared } from './prepared.ts'
import { type ApiRole, type Claims, GENERIC_PLANS, type Statement } from './scope.ts'
import { LOCK_TIMEOUT_MS, STATEMENT_TIMEOUT_MS } from './timeouts.ts'
import { endReadOnly } from './transactions.ts'

export interface UserRead extends Statement {
  readonly claims: Claims
}

type Answer = pg.QueryResult<pg.QueryResultRow>

export interface BatchReader {
  /**
   * All reads see one snapshot. If one fails, all fail.
   * @param chooseNext further reads, after the answers of the first ones
   * @returns the answers of the first reads, then those of the further ones
   * @throws the first failure
   */
  readAsEach(
    role: ApiRole,
    reads: readonly UserRead[],
    chooseNext?: (answers: readonly Answer[]) => readonly UserRead[],
  ): Promise<readonly Answer[]>
}

// Each step sets the role too: a function that the previous read called may have changed it.
const BECOME = `select set_config('role', $1, true), set_config('request.jwt.claims', $2, true)`

// Policies decide what a read costs, so it ends as a person's statement does.
// Reads are look-ups by key: planning one for each person takes several times as long as running it.
const BEGIN = `
  begin isolation level repeatable read read only;
  set local statement_timeout = ${STATEMENT_TIMEOUT_MS}; set local lock_timeout = ${LOCK_TIMEOUT_MS};
  set local plan_cache_mode = ${GENERIC_PLANS.plan_cache_mode}`

export const createBatchReader = (pool: pg.Pool): BatchReader => ({
  async readAsEach(role, reads, chooseNext) {
    const lease = await leaseConnection(pool)
    const { client } = lease
    let isEnding = false
    const end = () => {
      if (!isEnding) endReadOnly(lease)
      isEnding = true
    }

    /** Sends all reads at once, after the last of them also the end of the transaction. */
    async function send(begun: readonly Promise<unknown>[], portion: readonly UserRead[], isLast: boolean) {
      const answers: Promise<Answer>[] = []
      const sent = [...begun]
      for (const { claims, text, values } of portion) {
        // If this fails the transaction is aborted, so no read runs with another person's claims.
        sent.push(client.query(prepared(BECOME, [role, JSON.stringify(claims)])))
        const answer = client.query<pg.QueryResultRow>(prepared(text, values))
        answers.push(answer)
        sent.push(answer)
      }
      if (isLast) end()
      // The first failure in sending order causes the others.
      for (const step of await Promise.allSettled(sent)) if (step.status === 'rejected') throw step.reason
      return Promise.all(answers)
    }

    try {
      const answers = await send([client.query(BEGIN)], reads, !chooseNext)
      const next = chooseNext?.(answers) ?? []
      return next.length === 0 ? answers : [...answers, ...(await send([], next, true))]
    } finally {
      end()
    }
  },
})
