/**
 * From the insert of a message to the change at a subscribed client, against the minimum: a row in a bare table with
 * NOTIFY (a commit waits for the disk in both), a bare LISTEN, one read under the policy.
 */
import pg from 'pg'
import { connectionOf } from './connection-of.ts'
import { compared, inTurn } from './measure.ts'
import { live, startSignedIn } from './signed-in.ts'

export async function run([times = '200']: string[]): Promise<Record<string, unknown>> {
  const session = await startSignedIn()
  const [writing, watching] = [await session.open(), await session.open()]
  const conversationId = await session.startConversation(writing, 'alcove-reader')
  const connection = await connectionOf(session.dataDir)
  const [notifying, listening] = [new pg.Client(connection), new pg.Client(connection)]
  await Promise.all([notifying.connect(), listening.connect()])
  await listening.query('create table bench_rows (text text); listen bench')

  const reading = new pg.Client(connection)
  await reading.connect()
  const claims = JSON.stringify({ sub: session.userId, role: 'authenticated' })
  /** Runs as the person in its own transaction: the minimum for any server that applies the policy. */
  async function readUnderPolicy(): Promise<void> {
    await reading.query('begin read only')
    await reading.query(
      `select set_config('role', 'authenticated', true), set_config('request.jwt.claims', $1, true)`,
      [claims],
    )
    await reading.query('select * from messages where conversation_id = $1 limit 1', [conversationId])
    await reading.query('commit')
  }

  let onChange = (): void => undefined
  const channel = watching.channel('bench')
  // Assistant messages request no reply, so no reply is written meanwhile.
  channel.on(
    'postgres_changes',
    { event: 'INSERT', schema: 'public', table: 'messages', filter: `conversation_id=eq.${conversationId}` },
    () => onChange(),
  )
  await live(channel, { hasChanges: true })

  async function throughAlcove(): Promise<number> {
    const changed = Promise.withResolvers<undefined>()
    onChange = () => changed.resolve(undefined)
    const startedAt = performance.now()
    await notifying.query('insert into messages (conversation_id, content, sender_role) values ($1, $2, 2)', [
      conversationId,
      'x',
    ])
    await changed.promise
    return performance.now() - startedAt
  }
  async function bare(): Promise<number> {
    const heard = new Promise((resolve) => listening.once('notification', resolve))
    const startedAt = performance.now()
    await notifying.query(`insert into bench_rows values ('x'); notify bench`)
    await heard
    await readUnderPolicy()
    return performance.now() - startedAt
  }
  await inTurn(10, throughAlcove, bare)
  const measured = await inTurn(Number(times), throughAlcove, bare)
  await Promise.all([notifying.end(), listening.end(), reading.end()])
  await session.close()
  return { ...compared(measured), goal: 2 }
}
