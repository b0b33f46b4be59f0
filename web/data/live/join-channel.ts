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
  /** The server has closed the channel: the person may no longer read it, or the server could not tell. */
  readonly onClosed?: () => void
  /** Whether a channel that the server has closed may be joined again. Without it, none is. */
  readonly isReadable?: () => Promise<boolean>
}

/** Waits before a closed channel is joined again. */
const REJOIN_MS = [1_000, 2_000, 5_000, 10_000, 30_000] as const
const REJOIN_RARELY_MS = 60_000

/** Renews the token first. @returns the function that leaves */
export function joinChannel(
  build: (client: RealtimeClient) => RealtimeChannel,
  { onJoined, onChangesReady, onClosed, isReadable }: ChannelEvents,
): () => void {
  const client = realtimeClient()
  let left = false
  let channel: RealtimeChannel | null = null
  let isLogged = false
  let closings = 0
  let rejoinTimer: ReturnType<typeof setTimeout> | undefined
  const noteJoined = (): void => {
    isLogged = false
    closings = 0
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
    if (left) return
    onClosed?.()
    if (isReadable !== undefined) rejoinLater(isReadable)
  }
  /** Where the access has ended for good, nothing follows. */
  const rejoinLater = (isReadableNow: () => Promise<boolean>): void => {
    const wait = REJOIN_MS[closings] ?? REJOIN_RARELY_MS
    closings += 1
    const rejoin = async (): Promise<void> => {
      const mayJoin = await isReadableNow().catch((error: unknown) => {
        console.warn('Live channel', error)
        return null
      })
      if (left || mayJoin === false) return
      if (mayJoin === null) return rejoinLater(isReadableNow)
      await start()
    }
    rejoinTimer = setTimeout(() => {
      rejoin().catch(noteLost)
    }, wait)
  }
  setChannelJoined(false, noteJoined)
  start().catch(noteLost)
  return () => {
    left = true
    clearTimeout(rejoinTimer)
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
