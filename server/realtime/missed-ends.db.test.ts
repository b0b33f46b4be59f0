/** Channels of sessions whose end a node did not hear, because its listening connection was lost or the end came during a join. */
import { randomUUID } from 'node:crypto'
import { REALTIME_SUBSCRIBE_STATES, type RealtimeClient } from '@supabase/realtime-js'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { SESSION_ENDED } from '#contract/auth.ts'
import type { Tokens } from '#server/access/tokens.ts'
import { AppError } from '#server/base/errors.ts'
import type { Claims } from '#server/database/scope.ts'
import { createTestDatabase, type TestDatabase } from '#test/database.ts'
import { createTestTokens, openClient, type RealtimeNode, startNode, tokenOf } from '#test/realtime.ts'
import { createConversation } from '#test/spaces.ts'

interface SignedIn {
  readonly person: Claims & { readonly sub: string }
  readonly sessionId: string
  readonly token: string
}

let db: TestDatabase
let tokens: Tokens
let node: RealtimeNode
/** Runs after a token was found good. */
let afterCheck: (() => Promise<unknown>) | undefined

async function isOpen(sessionId: string | undefined): Promise<boolean> {
  const { rowCount } = await db.admin.query('select from auth.sessions where id = $1', [sessionId])
  return rowCount === 1
}

beforeAll(async () => {
  db = await createTestDatabase()
  tokens = await createTestTokens()
  node = await startNode(db, {
    ...tokens,
    async verify(token) {
      const claims = await tokens.verify(token)
      if (claims.sub !== undefined && !(await isOpen(claims.session_id)))
        throw new AppError('unauthenticated', 'This session has ended.', { details: { reason: 'ended' } })
      const runs = claims.sub === undefined ? undefined : afterCheck
      if (runs) afterCheck = undefined
      await runs?.()
      return claims
    },
  })
})
afterAll(async () => {
  await node.close()
  await db.drop()
})

async function signIn(): Promise<SignedIn> {
  const [person, sessionId] = [await db.createPerson(), randomUUID()]
  await db.admin.query('insert into auth.sessions (id, user_id) values ($1, $2)', [sessionId, person.sub])
  const now = Math.floor(Date.now() / 1000)
  return {
    person,
    sessionId,
    token: await tokens.sign({ ...person, session_id: sessionId, iat: now, exp: now + 3600 }),
  }
}

async function connect({ token }: SignedIn): Promise<RealtimeClient> {
  const client = await openClient(node, { apikey: await tokenOf(tokens, { role: 'anon' }), token })
  onTestFinished(async () => {
    await client.disconnect()
  })
  return client
}

/** Joins a private channel, or one that hears changes of rows. `ended` resolves with what the server says at its end. */
async function hear(client: RealtimeClient, topic: string, kind: 'private' | 'changes') {
  const channel = client.channel(topic, { config: { private: kind === 'private' } })
  const { promise: heard, resolve: noteHeard } = Promise.withResolvers<string>()
  if (kind === 'changes')
    channel.on('postgres_changes', { event: '*', schema: 'public', table: 'conversations' }, () => noteHeard('a row'))
  else channel.on('broadcast', { event: 'later' }, () => noteHeard('a message'))
  const ended = new Promise<string>((resolve) => {
    channel.on('system', {}, ({ status, message }: { status: string; message: string }) => {
      if (status === 'error') resolve(message)
    })
  })
  await new Promise<void>((resolve, reject) => {
    channel.subscribe((status, error) => {
      if (status === REALTIME_SUBSCRIBE_STATES.SUBSCRIBED) resolve()
      else if (status !== REALTIME_SUBSCRIBE_STATES.CLOSED) reject(error ?? new Error(status))
    })
  })
  return { channel, ended, heard }
}

test('a session whose end was missed while the listener was away hears nothing more once it is back', async () => {
  const [banned, other] = [await signIn(), await signIn()]
  const [ofBanned, ofOther] = await Promise.all(
    [banned, other].map(async (signedIn) => {
      const client = await connect(signedIn)
      const own = await createConversation(db, signedIn.person)
      const topic = `conversation:${own}`
      return { topic, channels: await Promise.all([hear(client, topic, 'private'), hear(client, 'rows', 'changes')]) }
    }),
  )
  // Without the trigger that would tell it.
  await db.admin.query(
    `begin; set local session_replication_role = replica; delete from auth.sessions where id = '${banned.sessionId}'; commit`,
  )
  await db.admin.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'alcove listener' and datname = current_database()`,
  )
  expect(await Promise.all(ofBanned?.channels.map(({ ended }) => ended) ?? [])).toEqual([SESSION_ENDED, SESSION_ENDED])
  await createConversation(db, other.person)
  await db.admin.query(`select realtime.send('{}', 'later', $1, true)`, [ofOther?.topic])
  expect(await Promise.all(ofOther?.channels.map(({ heard }) => heard) ?? [])).toEqual(['a message', 'a row'])
})

test('a session that ends while its channel is joined hears nothing', async () => {
  const signedIn = await signIn()
  const client = await connect(signedIn)
  const first = await hear(client, 'first', 'changes')
  // The end is told before the second channel exists, and when the first one has closed it was heard.
  afterCheck = async () => {
    await db.admin.query('delete from auth.sessions where id = $1', [signedIn.sessionId])
    await first.ended
  }
  const second = await hear(client, 'second', 'changes')
  expect(await second.ended).toBe(SESSION_ENDED)
})
