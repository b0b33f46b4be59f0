import { ownPath } from '#web/data/base-path.ts'

const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 15_000

/** @throws the reason of the signal */
export function delay(waitMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const giveUp = () => {
      clearTimeout(timer)
      reject(signal.reason as Error)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', giveUp)
      resolve()
    }, waitMs)
    signal.addEventListener('abort', giveUp, { once: true })
  })
}

interface Waiting {
  readonly signal: AbortSignal
  readonly onConnection: (isLost: boolean) => void
}

/** Asks less and less often, and at once when the browser is online again. @throws the reason of the signal */
export async function untilReachable({ signal, onConnection }: Waiting): Promise<void> {
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
    if (await isReachable(signal)) return onConnection(false)
    onConnection(true)
    const ending = new AbortController()
    const isOnline = new Promise((resolve) =>
      window.addEventListener('online', resolve, { once: true, signal: ending.signal }),
    )
    await Promise.race([delay(waitMs, signal), isOnline]).finally(() => ending.abort())
  }
}

async function isReachable(signal: AbortSignal): Promise<boolean> {
  try {
    return (await fetch(ownPath('/healthz'), { cache: 'no-store', signal })).ok
  } catch {
    signal.throwIfAborted()
    return false
  }
}
