import type pg from 'pg'
import { leaseConnection } from './pool.ts'
import { prepared } from './prepared.ts'
import { type ApiRole, type Claims, GENERIC_PLANS, type Statement } from './scope.ts'
import { LOCK_TIMEOUT_MS, STATEMENT_TIMEOUT_MS } from './timeouts.ts'
import { endReadOnly } from './transactions.ts'

export interface UserRead extends Statement {
  readonly claims: Claims
}

/** One read as each of several people. Its parameters are arrays, and its values those that JSON has. */
export interface ReadForMany {
  readonly people: readonly Claims[]
  readonly text: string
  readonly values: readonly (readonly unknown[])[]
}

export type BatchRead = UserRead | ReadForMany

/** Rows of a read; of a read for many, in their order, one row whose `found` is the rows of one person. */
export interface Answer {
  readonly rows: readonly Readonly<Record<string, unknown>>[]
}

export interface BatchReader {
  /**
   * All reads see one snapshot. If one fails, all fail.
   * @param chooseNext further reads, after the answers of the first ones
   * @returns the answers of the first reads, then those of the further ones
   * @throws the first failure
   */
  readAsEach(
    role: ApiRole,
    reads: readonly BatchRead[],
    chooseNext?: (answers: readonly Answer[]) => readonly BatchRead[],
  ): Promise<readonly Answer[]>
}

// Each step sets the role too: a function that the previous read called may have changed it.
const BECOME = `select set_config('role', $1, true), set_config('request.jwt.claims', $2, true)`

// The login role alone may call the function.
const BECOME_LOGIN_ROLE = `set local role none`
const READ_AS_EACH = 'select found_rows as found from realtime.read_as_each($1, $2, $3, $4)'

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
    async function send(begun: readonly Promise<unknown>[], portion: readonly BatchRead[], isLast: boolean) {
      const answers: Promise<Answer>[] = []
      const sent = [...begun]
      for (const read of portion) {
        // If a step fails the transaction is aborted, so no read runs with another person's claims.
        const [become, statement] = steps(role, read)
        sent.push(client.query(become))
        const answer = client.query<pg.QueryResultRow>(statement)
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

function steps(role: ApiRole, read: BatchRead): readonly [pg.QueryConfig, pg.QueryConfig] {
  if (!('people' in read))
    return [prepared(BECOME, [role, JSON.stringify(read.claims)]), prepared(read.text, read.values)]
  const people = `{${read.people.map(toArrayElement).join()}}`
  return [{ text: BECOME_LOGIN_ROLE }, prepared(READ_AS_EACH, [role, people, read.text, JSON.stringify(read.values)])]
}

/** Each change is read as the people who follow it, whose claims stay until their token is renewed. */
const arrayElements = new WeakMap<Claims, string>()

/** Renders claims as JSON in an array literal of PostgreSQL. */
function toArrayElement(claims: Claims): string {
  const known = arrayElements.get(claims)
  if (known !== undefined) return known
  const element = `"${JSON.stringify(claims).replaceAll(/["\\]/g, '\\$&')}"`
  arrayElements.set(claims, element)
  return element
}
