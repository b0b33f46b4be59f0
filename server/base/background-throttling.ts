/** Pauses background processes during foreground work: in containers, a priority counts only within its group. */
import type { ChildProcess } from 'node:child_process'
import { availableParallelism } from 'node:os'

export interface BackgroundThrottle {
  beginForeground(): () => void
  /**
   * `endsWithUs` false exempts the process, which could otherwise stay paused for ever. `signal` reaches every process
   * behind the child; default: the child alone.
   */
  throttle(child: ChildProcess, endsWithUs: () => boolean, signal?: (signal: PauseSignal) => void): void
}

type PauseSignal = 'SIGSTOP' | 'SIGCONT'

const MAX_PAUSE_MS = 60
const MIN_PAUSE_MS = 15
/** Bridges the few milliseconds between the steps of one answer. */
const RESUME_DELAY_MS = 4
/** One for the server and one for PostgreSQL. */
const PROCESSORS_PER_ANSWER = 2

export function createBackgroundThrottle({ processors = availableParallelism() } = {}): BackgroundThrottle {
  const children = new Map<ChildProcess, { endsWithUs: () => boolean; signal: (signal: PauseSignal) => unknown }>()
  let foreground = new Set<symbol>()
  let arePaused = false
  let creditMs = MAX_PAUSE_MS
  let countedAt = performance.now()
  let resuming: NodeJS.Timeout | undefined

  function countCredit(): void {
    const passedMs = performance.now() - countedAt
    countedAt += passedMs
    creditMs = arePaused ? creditMs - passedMs : Math.min(MAX_PAUSE_MS, creditMs + passedMs)
  }

  function signalAll(signal: PauseSignal): void {
    arePaused = signal === 'SIGSTOP'
    for (const child of children.values()) if (signal === 'SIGCONT' || child.endsWithUs()) child.signal(signal)
  }

  function resume(): void {
    countCredit()
    signalAll('SIGCONT')
    foreground = new Set()
  }

  function resumeAfter(ms: number): void {
    clearTimeout(resuming)
    // While the event loop was busy, more time may have passed than was left.
    resuming = setTimeout(resume, Math.max(0, ms))
  }

  return {
    beginForeground() {
      const one = Symbol('foreground work')
      foreground.add(one)
      if (children.size > 0) {
        countCredit()
        const areScarce = children.size + PROCESSORS_PER_ANSWER > processors
        if (!arePaused && areScarce && creditMs >= MIN_PAUSE_MS) signalAll('SIGSTOP')
        if (arePaused) resumeAfter(creditMs)
      }
      return () => {
        if (foreground.delete(one) && foreground.size === 0 && arePaused)
          resumeAfter(Math.min(RESUME_DELAY_MS, creditMs))
      }
    },
    throttle(child, endsWithUs, signal = (name) => child.kill(name)) {
      children.set(child, { endsWithUs, signal })
      child.once('exit', () => children.delete(child))
    },
  }
}
