import { create } from 'zustand'

/** A shorter interruption is not reported: the socket usually reconnects within two seconds. */
const LOST_AFTER_MS = 2_500

export const useConnection = create<{ isLost: boolean }>(() => ({ isLost: false }))

let isChannelBroken = false
let timer: ReturnType<typeof setTimeout> | undefined

function updateConnection(): void {
  if (!isChannelBroken && navigator.onLine) {
    clearTimeout(timer)
    timer = undefined
    useConnection.setState({ isLost: false })
  } else timer ??= setTimeout(() => useConnection.setState({ isLost: true }), LOST_AFTER_MS)
}

export function setChannelJoined(isJoined: boolean): void {
  isChannelBroken = !isJoined
  updateConnection()
}

export function followNetwork(): () => void {
  const ending = new AbortController()
  for (const event of ['online', 'offline']) window.addEventListener(event, updateConnection, { signal: ending.signal })
  updateConnection()
  return () => {
    ending.abort()
    clearTimeout(timer)
    timer = undefined
    isChannelBroken = false
    useConnection.setState({ isLost: false })
  }
}
