import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type AuthTestService, PASSWORD, startAuthService } from '#test/auth-service.ts'

let service: AuthTestService
beforeAll(async () => {
  service = await startAuthService()
})
afterAll(() => service.close())

/** Transactions of the accounts' own role that wait for another one. */
const countWaiting = async () => {
  const { rows } = await service.admin.query<{ count: number }>(
    `select count(*)::int from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock' and query like 'delete from auth.users%'`,
  )
  return rows[0]?.count
}

/**
 * Locks a conversation, lets the account be deleted, and then locks the account: each waits for the other. PostgreSQL ends
 * the deletion, since it alone looks for a deadlock.
 */
async function deleteWhileAnswering(userId: string, requestDeletion: () => Promise<Response>): Promise<Response> {
  const conversationId = randomUUID()
  const insert = `insert into conversations (id, uid, model_name) values ($1, $2, 'alcove-reader')`
  await service.admin.query(insert, [conversationId, userId])
  const other = new pg.Client(service.adminConnection)
  await other.connect()
  onTestFinished(() => other.end())
  await other.query(`set deadlock_timeout = '1h'`)
  await other.query('begin')
  await other.query('select from conversations where id = $1 for update', [conversationId])
  const deleting = requestDeletion()
  await expect.poll(countWaiting).toBe(1)
  await other.query('select from auth.users where id = $1 for share', [userId])
  await other.query('commit')
  return deleting
}

const hasAccount = async (userId: string) =>
  (await service.admin.query('select from auth.users where id = $1', [userId])).rowCount === 1

test('an account is closed although an answer that is being written deadlocks with it', async () => {
  const email = 'closing@example.test'
  const { session, user } = await service.signedIn(email)
  const response = await deleteWhileAnswering(user.id, () =>
    service.post(
      '/account/close',
      { confirmation: email, password: PASSWORD },
      { authorization: `Bearer ${session.access_token}` },
    ),
  )
  expect(response.status).toBe(200)
  expect(await hasAccount(user.id)).toBe(false)
})

test('the time of a request does not bound the deletion of an account, however many rows it has', async () => {
  await service.admin.query(`
    create function refuse_bounds() returns trigger language plpgsql as $$
    begin
      if current_setting('statement_timeout') <> '0' or current_setting('lock_timeout') <> '0' then
        raise exception 'the deletion is bounded';
      end if;
      return old;
    end $$;
    create trigger refuse_bounds before delete on auth.users for each row execute function refuse_bounds()`)
  onTestFinished(() => service.admin.query('drop function refuse_bounds cascade').then(() => undefined))
  const email = 'long@example.test'
  const { session, user } = await service.signedIn(email)
  const { user: other } = await service.signedIn('longer@example.test')
  const closed = await service.post(
    '/account/close',
    { confirmation: email, password: PASSWORD },
    { authorization: `Bearer ${session.access_token}` },
  )
  expect(closed.status).toBe(200)
  expect((await service.newAdmin().deleteUser(other.id)).error).toBeNull()
  expect([await hasAccount(user.id), await hasAccount(other.id)]).toEqual([false, false])
})

test('an operator deletes an account although an answer that is being written deadlocks with it', async () => {
  const { user } = await service.signedIn('deleted@example.test')
  const response = await deleteWhileAnswering(user.id, () =>
    fetch(`${service.url}/auth/v1/admin/users/${user.id}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${service.tokens.serviceRoleKey}` },
    }),
  )
  expect(response.status).toBe(200)
  expect(await hasAccount(user.id)).toBe(false)
})
