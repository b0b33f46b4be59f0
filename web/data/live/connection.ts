/** Whether live changes reach the page; a break of a moment is nobody's concern. */
import { create } from 'zustand'

/** The socket comes back by itself after a second or two, where there is something to come back to. */
const PATIENCE_MS = 2_500

export const useConnection = create<{ isLost: boolean }>(() => ({ isLost: false }))

let isBroken = false
let timer: ReturnType<typeof setTimeout> | undefined

function look(): void {
  if (!isBroken && navigator.onLine) {
    clearTimeout(timer)
    timer = undefined
    useConnection.setState({ isLost: false })
  } else timer ??= setTimeout(() => useConnection.setState({ isLost: true }), PATIENCE_MS)
}

/** Told whenever the channel of live changes breaks off or is joined (again). */
export function noteConnection(isJoined: boolean): void {
  isBroken = !isJoined
  look()
}

/** Follows whether the browser has a network at all. Returns the function that stops. */
export function followNetwork(): () => void {
  const ending = new AbortController()
  for (const event of ['online', 'offline']) window.addEventListener(event, look, { signal: ending.signal })
  look()
  return () => {
    ending.abort()
    clearTimeout(timer)
    timer = undefined
    isBroken = false
    useConnection.setState({ isLost: false })
  }
}
