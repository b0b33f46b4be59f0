import { REALTIME_SUBSCRIBE_STATES, type RealtimeChannel, type RealtimeClient } from '@supabase/realtime-js'
import { SESSION_ENDED } from '#contract/auth.ts'
import { confirmSession } from '#web/data/auth/session.ts'
import { setChannelJoined } from './connection.ts'
import { logFailure } from './log-failure.ts'
import { noteJoin, realtimeClient, renewToken } from './realtime-client.ts'

interface ChannelEvents {
  /** Runs after every rejoin too. */
  readonly onJoined?: () => void
  /** Row changes begin to arrive. The channel never delivers rows written before that. */
  readonly onChangesReady?: () => void
  /** The server has closed the channel: the person may no longer read it, or its session has ended. */
  readonly onClosed?: () => void
}

/** Renews the token first. @returns the function that leaves */
export function joinChannel(
  build: (client: RealtimeClient) => RealtimeChannel,
  { onJoined, onChangesReady, onClosed }: ChannelEvents,
): () => void {
  const client = realtimeClient()
  let left = false
  let channel: RealtimeChannel | null = null
  let isLogged = false
  const noteJoined = (): void => {
    isLogged = false
    noteJoin()
    setChannelJoined(true, noteJoined)
  }
  const noteLost = (error: unknown): void => {
    setChannelJoined(false, noteJoined)
    // A network without WebSockets would fill the console: the client tries again for as long as the page is open.
    if (error !== undefined && !isLogged) console.warn('Live channel', error)
    isLogged = true
  }
  const start = async (): Promise<void> => {
    await renewToken(client)
    if (left) return
    channel = build(client)
    if (onChangesReady !== undefined)
      afterChangesReady(channel, () => {
        noteJoined()
        onChangesReady()
      })
    channel.subscribe((status, error) => {
      if (left) return
      if (status === REALTIME_SUBSCRIBE_STATES.SUBSCRIBED) {
        if (onChangesReady === undefined) noteJoined()
        onJoined?.()
        return
      }
      noteLost(error)
      if (status !== REALTIME_SUBSCRIBE_STATES.CLOSED) return
      // Nothing comes back over it: the page is not without connection for that.
      if (onClosed !== undefined) setChannelJoined(true, noteJoined)
      logFailure(tellClosed())
    })
  }
  // Where the session has ended, the page goes, and reads nothing any more.
  const tellClosed = async (): Promise<void> => {
    await confirmSession()
    if (!left) onClosed?.()
  }
  setChannelJoined(false, noteJoined)
  start().catch(noteLost)
  return () => {
    left = true
    setChannelJoined(true, noteJoined)
    if (channel !== null) logFailure(client.removeChannel(channel))
  }
}

function afterChangesReady(channel: RealtimeChannel, ready: () => void): void {
  channel.on('system', {}, (message: { extension?: string; status?: string; message?: string }) => {
    // The channel's closing, which follows, tells whether a session was ended elsewhere.
    if (message.message === SESSION_ENDED) return
    if (message.status === 'error') console.error('Live changes', message.message)
    else if (message.extension === 'postgres_changes') ready()
  })
}
