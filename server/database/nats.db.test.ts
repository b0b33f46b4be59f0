import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { connect } from '@nats-io/transport-node'
import type { RealtimeClient } from '@supabase/realtime-js'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createLog } from '#server/base/log.ts'
import { createTestDatabase, type TestDatabase } from '#test/database.ts'
import { hasNats, type NatsServer, useNats, startNatsServer } from '#test/nats.ts'
import {
  createRecorder,
  createTestTokens,
  live,
  openClient,
  type Recorder,
  startNode,
  tokenOf,
} from '#test/realtime.ts'
import { openListener } from './listen.ts'
import { openNats } from './nats.ts'
import type { Notification, Notifier } from './notifications.ts'
import { openDatabase } from './open-database.ts'

const log = createLog('silent')
const key = Buffer.alloc(32, 1)

async function startNats(options: Parameters<typeof startNatsServer>[0] = {}): Promise<NatsServer> {
  const server = await startNatsServer(options)
  onTestFinished(() => server.stop())
  return server
}

async function startAll(): Promise<{
  readonly db: TestDatabase
  readonly server: NatsServer
  readonly heard: Recorder<string>
  readonly client: RealtimeClient
  readonly insert: (title: string, into?: TestDatabase['database']) => Promise<void>
}> {
  const server = await startNatsServer()
  useNats(server.url)
  const db = await createTestDatabase()
  const tokens = await createTestTokens()
  const node = await startNode(db, tokens)
  onTestFinished(async () => {
    await node.close()
    await db.drop()
    await server.stop()
  })
  const person = await db.createPerson()
  const client = await openClient(node, { apikey: tokens.anonKey, token: await tokenOf(tokens, person) })
  onTestFinished(async () => {
    await client.disconnect()
  })
  const heard = createRecorder<string>()
  const channel = client.channel('rows')
  channel.on<{ title: string }>(
    'postgres_changes',
    { event: 'INSERT', schema: 'public', table: 'conversations' },
    ({ new: row }) => heard.add(row.title),
  )
  await live(channel)
  return {
    db,
    server,
    heard,
    client,
    insert: (title, into = db.database) =>
      into.asUser(person, async (scope) => {
        await scope.query(`insert into conversations (id, uid, model_name, title) values ($1, $2, 'm', $3)`, [
          randomUUID(),
          person.sub,
          title,
        ])
      }),
  }
}

describe.skipIf(!hasNats)('a message bus next to the database', () => {
  test('writes and broadcasts arrive without NOTIFY', async () => {
    const { db, heard, insert } = await startAll()
    const notified: string[] = []
    const listener = await openListener(db.connection, log)
    for (const channel of ['realtime_changes', 'realtime_broadcast', 'replies'])
      await listener.on(channel, () => notified.push(channel))
    await insert('first')
    expect(await heard.next()).toBe('first')
    await db.database.asService((scope) => scope.query(`select realtime.send('{}', 'e', 'room', false)`))
    // A question too, because it wakes the workers.
    await db.database.asService((scope) =>
      scope.query(
        `insert into messages (id, conversation_id, content, sender_role) select $1, id, 'Hello', 1 from conversations`,
        [randomUUID()],
      ),
    )
    // Notifications arrive in commit order: once this one is here, earlier ones have arrived.
    const last = createRecorder<string>()
    await listener.on('last', (payload) => last.add(payload))
    await db.admin.query('notify last')
    await last.next()
    expect(notified).toEqual([])
    await listener.close()
  })

  test('a rolled-back transaction notifies no server', async () => {
    const { db, heard, insert } = await startAll()
    const rung: string[] = []
    const bus: Notifier = { isOpen: true, notify: ({ channel }) => rung.push(channel) > 0 }
    const { database, close } = openDatabase(db.connection, log, bus)
    await expect(
      database.asService(async (scope) => {
        await scope.query(`select realtime.send('{}', 'e', 'room', false)`)
        throw new Error('no')
      }),
    ).rejects.toThrow('no')
    expect(rung).toEqual([])
    await insert('kept', database)
    expect(rung).toEqual(['realtime_changes'])
    await close()
    expect(await heard.next()).toBe('kept')
  })

  test('a statement of the service channel uses the bus, and NOTIFY while the bus is closed', async () => {
    const { db } = await startAll()
    const rung: string[] = []
    const bus = { isOpen: true, notify: ({ channel }: Notification) => rung.push(channel) > 0 }
    const { serviceChannel, close } = openDatabase(db.connection, log, bus)
    const listener = await openListener(db.connection, log)
    const notified = createRecorder<string>()
    await listener.on('realtime_broadcast', (payload) => notified.add(payload))
    const send = (event: string) => serviceChannel.statement(`select realtime.send('{}', $1, 'room', false)`, [event])
    await send('rung')
    bus.isOpen = false
    await send('notified')
    bus.isOpen = true
    await send('rung again')
    expect(await notified.next()).toContain('notified')
    expect(rung).toEqual(['realtime_broadcast', 'realtime_broadcast'])
    await listener.close()
    await close()
    expect(notified.waiting).toEqual([])
  })

  test('a change arrives even where its server died before it notified', async () => {
    const { db, heard, insert } = await startAll()
    const { database, close } = openDatabase(db.connection, log, { isOpen: true, notify: () => true })
    await insert('unheard', database)
    expect(await heard.next()).toBe('unheard')
    await close()
  })

  test('while NATS is disconnected PostgreSQL notifies, and nothing is lost before, meanwhile and after', async () => {
    const { server, heard, insert } = await startAll()
    const titles = Array.from({ length: 60 }, (_, index) => `title ${index}`)
    for (const [index, title] of titles.entries()) {
      if (index === 20) await server.stop()
      if (index === 40) await startNats({ port: server.port })
      await insert(title)
    }
    const seen: string[] = []
    while (seen.length < titles.length) seen.push(await heard.next())
    expect(new Set(seen)).toEqual(new Set(titles))
    expect(heard.waiting).toEqual([])
  })

  test('a stranger on NATS can neither read nor send notifications', async () => {
    const { db, server, heard, insert } = await startAll()
    const stranger = await connect({ servers: server.url.replace('nats://', '') })
    const overheard = createRecorder<{ subject: string; data: Uint8Array }>()
    stranger.subscribe('>', { callback: (_error, message) => overheard.add(message) })
    await stranger.flush()
    await db.database.asService((scope) =>
      scope.query(`select realtime.send('{"text": "our secret"}', 'said', 'room', false)`),
    )
    const { subject, data } = await overheard.next()
    expect(subject).toMatch(/^alcove\.[0-9a-f]{16}\.realtime_broadcast$/)
    expect(Buffer.from(data).toString('latin1')).not.toContain('secret')
    stranger.publish(subject, '{"topic":"room","event":"said","private":false,"payload":{"text":"forged"}}')
    // A message encrypted for one channel is rejected on another.
    stranger.publish(subject.replace('realtime_broadcast', 'realtime_presence'), data)
    await stranger.flush()
    await insert('still there')
    expect(await heard.next()).toBe('still there')
    await stranger.close()
  })
})

describe.skipIf(!hasNats)('an address that does not work ends the start with one sentence', () => {
  test('where no server listens', async () => {
    const server = await startNatsServer()
    await server.stop()
    await expect(openNats({ urls: [`nats://someone:hunter2@127.0.0.1:${server.port}`], key, log })).rejects.toThrow(
      new RegExp(`^NATS_URL names 127\\.0\\.0\\.1:${server.port}, but no NATS server lets us in there: .*refused`),
    )
  })

  test('where the password is wrong, or missing, and not where it is right', async () => {
    const server = await startNats({ args: ['--user', 'alcove', '--pass', 'p@ss'] })
    const at = (credentials: string) => [server.url.replace('//', `//${credentials}`)]
    for (const credentials of ['alcove:hunter2@', '']) {
      const refusal: unknown = await openNats({ urls: at(credentials), key, log }).catch((error: unknown) => error)
      expect(String(refusal)).toMatch(/lets us in there: .*Authorization Violation/i)
      expect(String(refusal)).not.toContain('hunter2')
    }
    const nats = await openNats({ urls: at('alcove:p%40ss@'), key, log })
    await nats.close()
  })

  test('where a token is wanted', async () => {
    const server = await startNats({ args: ['--auth', 's3cret'] })
    const nats = await openNats({ urls: [server.url.replace('//', '//s3cret@')], key, log })
    expect(nats.isOpen).toBe(true)
    await nats.close()
  })

  test('where published messages do not arrive', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'alcove-nats-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const config = path.join(folder, 'nats.conf')
    await writeFile(
      config,
      'authorization { users: [{ user: "alcove", password: "p", permissions: { subscribe: { deny: ">" } } }] }',
    )
    const server = await startNats({ args: ['--config', config] })
    await expect(openNats({ urls: [server.url.replace('//', '//alcove:p@')], key, log })).rejects.toThrow(
      'is not heard again. Its user must be allowed both.',
    )
  })
})
