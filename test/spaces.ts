/** People of spaces, who act with their own rights by the statements that outside programs use. */
import { randomUUID } from 'node:crypto'
import type { SpaceRole } from '#contract/space.ts'
import { codeOf } from '#server/base/errors.ts'
import type { Claims } from '#server/database/scope.ts'
import type { TestDatabase } from './database.ts'

export type Person = Claims & { readonly sub: string; readonly email?: unknown }
type Row = Record<string, unknown>

/** Runs one statement as a person and commits it. */
export async function runAs<Found extends Row = Row>(
  { database }: TestDatabase,
  claims: Claims,
  text: string,
  values: readonly unknown[] = [],
): Promise<Found[]> {
  return database.asUser(claims, async (scope) => (await scope.query<Found>(text, values)).rows)
}

/** The number of rows that a statement reads or changes, or the SQLSTATE of its rejection. It is rolled back. */
export async function attemptAs(
  { database }: TestDatabase,
  claims: Claims,
  text: string,
  { values = [], settings = {} }: { values?: readonly unknown[]; settings?: Readonly<Record<string, string>> } = {},
): Promise<number | string> {
  let touched = 0
  const undone = new Error('undone')
  try {
    await database.asUser(
      claims,
      async (scope) => {
        touched = (await scope.query(text, values)).rowCount ?? 0
        throw undone
      },
      { settings },
    )
  } catch (error) {
    if (error !== undone) return codeOf(error) ?? String(error)
  }
  return touched
}

/** The SQLSTATE of a rejection. @throws if there is none */
export async function rejectionOf(run: Promise<unknown>): Promise<string> {
  try {
    await run
  } catch (error) {
    return codeOf(error) ?? String(error)
  }
  throw new Error('was accepted')
}

export async function createSpace(db: TestDatabase, owner: Person, id: string = randomUUID()): Promise<string> {
  await runAs(db, owner, 'insert into spaces (id, name) values ($1, $2)', [id, 'Lamps'])
  return id
}

/** Invites by the account's address. @returns the id of the invitation */
export async function invite(
  db: TestDatabase,
  inviter: Person,
  { space, email, role }: { space: string; email: string; role: SpaceRole },
): Promise<string> {
  const [row] = await runAs<{ id: string }>(db, inviter, 'select invite_to_space($1, $2, $3) as id', [
    space,
    email,
    role,
  ])
  return row?.id ?? ''
}

export const accept = (db: TestDatabase, person: Person, invitation: string): Promise<Row[]> =>
  runAs(db, person, 'select answer_invitation($1, true)', [invitation])

export async function join(db: TestDatabase, owner: Person, space: string, person: Person, role: SpaceRole) {
  const { rows } = await db.admin.query<{ email: string }>('select email from auth.users where id = $1', [person.sub])
  await accept(db, person, await invite(db, owner, { space, email: rows[0]?.email ?? '', role }))
}

export const remove = (db: TestDatabase, owner: Person, space: string, person: Person): Promise<Row[]> =>
  runAs(db, owner, 'delete from space_members where space_id = $1 and user_id = $2', [space, person.sub])

export const setRole = (db: TestDatabase, owner: Person, space: string, person: Person, role: SpaceRole) =>
  runAs(db, owner, 'update space_members set role = $3 where space_id = $1 and user_id = $2 returning role', [
    space,
    person.sub,
    role,
  ])

/** @returns its id */
export async function createConversation(
  db: TestDatabase,
  author: Person,
  { space = null, isShared = false }: { space?: string | null; isShared?: boolean } = {},
): Promise<string> {
  const id = randomUUID()
  await runAs(
    db,
    author,
    `insert into conversations (id, model_name, space_id, is_shared) values ($1, 'alcove-reader', $2, $3)`,
    [id, space, isShared],
  )
  return id
}

/** @returns the id of the question */
export async function ask(db: TestDatabase, asker: Person, conversation: string, content = 'Where?'): Promise<string> {
  const id = randomUUID()
  await runAs(db, asker, 'insert into messages (id, conversation_id, content, sender_role) values ($1, $2, $3, 1)', [
    id,
    conversation,
    content,
  ])
  return id
}

/** An owner's space with an editor and a reader, and a person outside of it. */
export async function createPeopledSpace(db: TestDatabase) {
  const create = () => db.createPerson()
  const [owner, editor, reader, stranger] = await Promise.all([create(), create(), create(), create()])
  const space = await createSpace(db, owner)
  await join(db, owner, space, editor, 'editor')
  await join(db, owner, space, reader, 'reader')
  return { owner, editor, reader, stranger, space }
}
