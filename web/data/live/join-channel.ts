import { REALTIME_SUBSCRIBE_STATES, type RealtimeChannel, type RealtimeClient } from '@supabase/realtime-js'
import { SESSION_ENDED } from '#contract/auth.ts'
import { confirmSession } from '#web/data/auth/session.ts'
import { logFailure } from './log-failure.ts'
import { realtimeClient, renewToken } from './realtime-client.ts'

/** Renews the token first. `onJoined` runs after every rejoin too. @returns the function that leaves */
export function joinChannel(
  build: (client: RealtimeClient) => RealtimeChannel,
  onJoined: () => void,
  onLost: () => void = () => undefined,
): () => void {
  const client = realtimeClient()
  let left = false
  let channel: RealtimeChannel | null = null
  const start = async (): Promise<void> => {
    await renewToken(client)
    if (left) return
    channel = build(client)
    channel.subscribe((status, error) => {
      if (status === REALTIME_SUBSCRIBE_STATES.SUBSCRIBED) onJoined()
      // The server closes a channel only when its session has ended.
      else if (status === REALTIME_SUBSCRIBE_STATES.CLOSED && !left) logFailure(confirmSession())
      else if (!left) {
        onLost()
        if (error !== undefined) console.error(error)
      }
    })
  }
  logFailure(start())
  return () => {
    left = true
    if (channel !== null) logFailure(client.removeChannel(channel))
  }
}

/** Calls back when row changes begin to arrive. The channel never delivers rows written before that. */
export function onChangesReady(channel: RealtimeChannel, ready: () => void): RealtimeChannel {
  return channel.on('system', {}, (message: { extension?: string; status?: string; message?: string }) => {
    // The channel's closing, which follows, tells whether a session was ended elsewhere.
    if (message.message === SESSION_ENDED) return
    if (message.status === 'error') console.error('Live changes', message.message)
    else if (message.extension === 'postgres_changes') ready()
  })
}
