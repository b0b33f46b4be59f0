/**
 * Decides how the page learns what changes: live channels tell it, and while one of them is missing the page asks by HTTP
 * (`polling.ts`), as some networks let no WebSockets through.
 */
import { create } from 'zustand'
import type { Follower } from './polling.ts'

/** A shorter interruption is not reported: the socket usually reconnects within two seconds. */
const LOST_AFTER_MS = 2_500

/** While the first answer takes longer than this, the connection is reported as lost. */
const FIRST_ANSWER_WITHIN_MS = 2_000

/** `isPolled`: requests are answered, but live channels are missing. */
export const useConnection = create<{ isLost: boolean; isPolled: boolean }>(() => ({ isLost: false, isPolled: false }))

const followers = new Set<Follower>()
const brokenChannels = new Set<unknown>()
let timer: ReturnType<typeof setTimeout> | undefined
let polling = new AbortController()

function endPolling(): void {
  if (timer === undefined) return
  clearTimeout(timer)
  timer = undefined
  polling.abort()
  useConnection.setState({ isLost: false, isPolled: false })
}

function updateConnection(): void {
  if (brokenChannels.size === 0 && navigator.onLine) endPolling()
  else timer ??= setTimeout(() => void askInstead(), LOST_AFTER_MS)
}

async function askInstead(): Promise<void> {
  polling = new AbortController()
  const { signal } = polling
  const report = (isAnswered: boolean): void => {
    clearTimeout(late)
    if (signal.aborted) return
    useConnection.setState({ isLost: !isAnswered, isPolled: isAnswered && brokenChannels.size > 0 })
  }
  const late = setTimeout(() => report(false), FIRST_ANSWER_WITHIN_MS)
  if (followers.size === 0) return report(false)
  try {
    const { pollChanges } = await import('./polling.ts')
    await pollChanges(followers, signal, report)
  } catch (error) {
    console.warn('The page cannot ask for changes', error)
    report(false)
    if (signal.aborted) return
    timer = undefined
    updateConnection()
  }
}

/** @param channel any value that stands for one channel */
export function setChannelJoined(isJoined: boolean, channel: unknown): void {
  if (isJoined) brokenChannels.delete(channel)
  else brokenChannels.add(channel)
  updateConnection()
}

/** @returns the function that stops */
export function addFollower(follower: Follower): () => void {
  followers.add(follower)
  return () => followers.delete(follower)
}

export const isNewsExpected = (): boolean => [...followers].some((follower) => follower.isExpecting())

export function followNetwork(): () => void {
  const ending = new AbortController()
  for (const event of ['online', 'offline']) window.addEventListener(event, updateConnection, { signal: ending.signal })
  updateConnection()
  return () => {
    ending.abort()
    brokenChannels.clear()
    endPolling()
  }
}
