/** A separate server with a signed-in official client, for figures measured from outside. */
import { randomUUID } from 'node:crypto'
import { createClient, REALTIME_SUBSCRIBE_STATES } from '@supabase/supabase-js'
import { type AlcoveProcess, createDataDir, type Environment, startAlcove } from '#test/alcove.ts'

export type Client = ReturnType<typeof connect>
type Channel = ReturnType<Client['channel']>

const connect = (url: string, key: string) => createClient(url, key, { auth: { persistSession: false } })

export interface SignedIn {
  readonly alcove: AlcoveProcess
  readonly dataDir: string
  readonly userId: string
  readonly token: string
  open(): Promise<Client>
  startConversation(client: Client, model: string): Promise<string>
  close(): Promise<void>
}

/** @param environment may name a `DATA_DIR` that stays */
export async function startSignedIn(environment: Environment = {}): Promise<SignedIn> {
  const { dataDir: made, remove } = await createDataDir()
  const dataDir = environment['DATA_DIR'] ?? made
  const alcove = await startAlcove({ LOG_LEVEL: 'warn', ...environment, DATA_DIR: dataDir })
  const { supabaseAnonKey, testAccount } = await alcove.config()
  if (!testAccount) throw new Error('there is no test account')
  const clients: Client[] = []
  async function open(): Promise<Client> {
    const client = connect(alcove.url, supabaseAnonKey)
    const { error } = await client.auth.signInWithPassword(testAccount ?? { email: '', password: '' })
    if (error) throw error
    await client.realtime.setAuth()
    clients.push(client)
    return client
  }
  const first = await open()
  const { data } = await first.auth.getSession()
  if (!data.session) throw new Error('there is no session')
  return {
    alcove,
    dataDir,
    userId: data.session.user.id,
    token: data.session.access_token,
    open,
    async startConversation(client, model) {
      const id = randomUUID()
      const { error } = await client.from('conversations').insert({ id, model_name: model })
      if (error) throw error
      return id
    },
    async close() {
      for (const client of clients) await client.removeAllChannels()
      await alcove.end()
      await remove()
    },
  }
}

/** Resolves once a channel is joined and, with `hasChanges`, its changes are live. */
export function live(channel: Channel, { hasChanges = false } = {}): Promise<void> {
  return new Promise((resolve, reject) => {
    if (hasChanges) channel.on('system', {}, ({ status }: { status: string }) => status === 'ok' && resolve())
    channel.subscribe((status, error) => {
      if (status === REALTIME_SUBSCRIBE_STATES.SUBSCRIBED && !hasChanges) resolve()
      if (status === REALTIME_SUBSCRIBE_STATES.CHANNEL_ERROR) reject(error ?? new Error('the channel was refused'))
    })
  })
}
