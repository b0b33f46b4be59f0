/** Operators of the installation, and the link that makes a person its operator. */
import { createHash, randomBytes } from 'node:crypto'
import { AppError } from '#server/base/errors.ts'
import type { Database } from '#server/database/scope.ts'

const LINK_HOURS = 24
const LINK_PATH = '/operator'

const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest()

export async function isOperator(database: Database, userId: string): Promise<boolean> {
  const { rows } = await database.serviceStatement('select user_id from operators where user_id = $1', [userId])
  return rows.length > 0
}

type Run = (text: string, values?: unknown[]) => Promise<{ readonly rowCount: number | null }>

/** Runs as the service or as the owner of the database. */
export async function hasOperator(run: Run): Promise<boolean> {
  return ((await run('select user_id from public.operators limit 1')).rowCount ?? 0) > 0
}

/** A link that works once, until it expires or another one is used. Only the hash of its token is stored. */
export async function createOperatorLink(run: Run, address: string): Promise<string> {
  const token = randomBytes(32).toString('base64url')
  await run('delete from operator_links where expires_at < now()')
  await run('insert into operator_links (token_hash, expires_at) values ($1, now() + make_interval(hours => $2))', [
    hashOf(token),
    LINK_HOURS,
  ])
  return `${address}${LINK_PATH}?token=${token}`
}

const ended = () =>
  new AppError(
    'not_found',
    'This link has ended or was used. Where there is no operator yet, `npm run -s operator` (as a package or image: `alcove operator`) prints another one.',
  )

export async function requireLink(database: Database, token: string): Promise<void> {
  const { rows } = await database.serviceStatement(
    `select from operator_links where token_hash = $1 and expires_at > now() and not exists (select from operators)`,
    [hashOf(token)],
  )
  if (rows.length === 0) throw ended()
}

/**
 * Makes the person of `openAccount` the operator and ends all links. If `openAccount` fails, the link remains.
 * @throws AppError `not_found` for a link that has ended, and errors of `openAccount`
 */
export async function useOperatorLink(
  database: Database,
  token: string,
  openAccount: () => Promise<string>,
): Promise<void> {
  await database.asService(async (scope) => {
    // The deleted row is locked until the commit: a second use of the link waits, and finds it gone.
    const { rowCount } = await scope.query(
      `delete from operator_links where token_hash = $1 and expires_at > now() and not exists (select from operators)`,
      [hashOf(token)],
    )
    if (rowCount === 0) throw ended()
    await scope.query('insert into operators (user_id) values ($1)', [await openAccount()])
    await scope.query('delete from operator_links')
  })
}
