/** Whether live changes reach the page; a break of a moment is nobody's concern. */
import { create } from 'zustand'

/** The socket comes back by itself after a second or two, where there is something to come back to. */
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

/** Told whenever the channel of live changes breaks off or is joined (again). */
export function setChannelJoined(isJoined: boolean): void {
  isChannelBroken = !isJoined
  updateConnection()
}

/** Follows whether the browser has a network at all. Returns the function that stops. */
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
