/** From the insert of a message to the change at a subscribed client, against a bare NOTIFY to a bare LISTEN. */
import pg from 'pg'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { compared, inTurn } from './measure.ts'
import { live, startSignedIn } from './signed-in.ts'

export async function run([times = '200']: string[]): Promise<Record<string, unknown>> {
  const session = await startSignedIn()
  const [writing, watching] = [await session.open(), await session.open()]
  const conversationId = await session.startConversation(writing, 'alcove-reader')
  const { databasePassword } = JSON.parse(await readFile(path.join(session.dataDir, 'secrets.json'), 'utf8')) as {
    databasePassword: string
  }
  const connection = {
    host: path.join(session.dataDir, 'run'),
    user: 'postgres',
    password: databasePassword,
    database: 'alcove',
  }
  const [notifying, listening] = [new pg.Client(connection), new pg.Client(connection)]
  await Promise.all([notifying.connect(), listening.connect()])
  await listening.query('listen bench')

  let onChange = (): void => undefined
  const channel = watching.channel('bench')
  // Answers of the assistant ask nothing, so that no reply is written meanwhile.
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
    await notifying.query(`notify bench`)
    await heard
    return performance.now() - startedAt
  }
  await inTurn(10, throughAlcove, bare)
  const measured = await inTurn(Number(times), throughAlcove, bare)
  await Promise.all([notifying.end(), listening.end()])
  await session.close()
  return compared(measured)
}
