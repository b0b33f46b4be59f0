/** Tests the realtime connection on the private channel `debug:{user id}`. */
import { REALTIME_SUBSCRIBE_STATES, type RealtimeChannel } from '@supabase/realtime-js'
import { realtimeClient } from './realtime-client.ts'

const EVENT = 'test'
const TIMEOUT_MS = 5000

function withTimeout<T>(task: Promise<T>, what: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${what} did not come within ${TIMEOUT_MS / 1000} s`)), TIMEOUT_MS)
    task.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

const waitForJoin = (channel: RealtimeChannel): Promise<void> =>
  new Promise((resolve, reject) => {
    channel.subscribe((status, error) => {
      if (status === REALTIME_SUBSCRIBE_STATES.SUBSCRIBED) resolve()
      else reject(error ?? new Error(`The channel is ${status.toLowerCase()}`))
    })
  })

async function onDebugChannel<T>(userId: string, run: (channel: RealtimeChannel) => Promise<T>): Promise<T> {
  const client = realtimeClient()
  await client.setAuth()
  const channel = client.channel(`debug:${userId}`, { config: { private: true, broadcast: { self: true, ack: true } } })
  try {
    return await run(channel)
  } finally {
    await client.removeChannel(channel)
  }
}

async function roundTrip(
  userId: string,
  send: (channel: RealtimeChannel, payload: { id: string }) => Promise<void>,
): Promise<number> {
  return onDebugChannel(userId, async (channel) => {
    const id = crypto.randomUUID()
    const back = new Promise<void>((resolve) => {
      channel.on('broadcast', { event: EVENT }, ({ payload }: { payload?: { id?: unknown } }) => {
        if (payload?.id === id) resolve()
      })
    })
    await withTimeout(waitForJoin(channel), 'The answer to joining')
    const start = performance.now()
    await send(channel, { id })
    await withTimeout(back, 'The message')
    return performance.now() - start
  })
}

export function checkConnection(userId: string): Promise<number> {
  return onDebugChannel(userId, async (channel) => {
    const start = performance.now()
    await withTimeout(waitForJoin(channel), 'The answer to joining')
    return performance.now() - start
  })
}

export function testSocketBroadcast(userId: string): Promise<number> {
  return roundTrip(userId, async (channel, payload) => {
    const answer = await channel.send({ type: 'broadcast', event: EVENT, payload })
    if (answer !== 'ok') throw new Error(`Sending ended with "${answer}"`)
  })
}

export function testHttpBroadcast(userId: string): Promise<number> {
  return roundTrip(userId, async (channel, payload) => {
    const answer = await channel.httpSend(EVENT, payload)
    if (!answer.success) throw new Error(`The server answered ${answer.status}: ${answer.error}`)
  })
}
