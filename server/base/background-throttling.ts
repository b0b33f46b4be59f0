/**
 * People first: processes that work in the background stand still while somebody waits for an answer, so that it is not
 * written on what they leave of the processors. A low priority does not see to that: in containers, and wherever Linux
 * groups processes by session, it counts only against their own kind. However many people wait, half of the time stays
 * theirs; and where processors are left, nothing stands still.
 */
import { type ChildProcess } from 'node:child_process'
import { availableParallelism } from 'node:os'

export interface BackgroundThrottle {
  /** Somebody waits, until the function that this returns is called. */
  beginForeground(): () => void
  /**
   * The process stands still whenever somebody comes to wait.
   * @param endsWithUs asked before it is stopped: one that outlived this process could stand still for ever.
   */
  throttle(child: ChildProcess, endsWithUs: () => boolean): void
}

/** Processes are kept from working for so long at once. */
const MOST_MS = 60
/** Less time than this is not worth stopping them. */
const LEAST_MS = 15
/** Between the steps of one answer, in which nobody seems to wait, lie a few milliseconds. */
const LINGER_MS = 4
/** What an answer takes: one for the server and one for PostgreSQL. */
const PROCESSORS_OF_ANSWER = 2

export function createBackgroundThrottle({ processors = availableParallelism() } = {}): BackgroundThrottle {
  const children = new Map<ChildProcess, () => boolean>()
  let waiting = new Set<symbol>()
  let areStopped = false
  // Spent while they stand still, earned back while they run.
  let creditMs = MOST_MS
  let countedAt = performance.now()
  let resuming: NodeJS.Timeout | undefined

  function countCredit(): void {
    const passedMs = performance.now() - countedAt
    countedAt += passedMs
    creditMs = areStopped ? creditMs - passedMs : Math.min(MOST_MS, creditMs + passedMs)
  }

  function tell(signal: 'SIGSTOP' | 'SIGCONT'): void {
    areStopped = signal === 'SIGSTOP'
    for (const [child, endsWithUs] of children) if (signal === 'SIGCONT' || endsWithUs()) child.kill(signal)
  }

  function resume(): void {
    countCredit()
    tell('SIGCONT')
    // Whoever still waits does so for something else.
    waiting = new Set()
  }

  function resumeAfter(ms: number): void {
    clearTimeout(resuming)
    resuming = setTimeout(resume, ms)
  }

  return {
    beginForeground() {
      const one = Symbol('somebody')
      waiting.add(one)
      if (children.size > 0) {
        countCredit()
        const areScarce = children.size + PROCESSORS_OF_ANSWER > processors
        if (!areStopped && areScarce && creditMs >= LEAST_MS) tell('SIGSTOP')
        if (areStopped) resumeAfter(creditMs)
      }
      return () => {
        if (waiting.delete(one) && waiting.size === 0 && areStopped) resumeAfter(Math.min(LINGER_MS, creditMs))
      }
    },
    throttle(child, endsWithUs) {
      children.set(child, endsWithUs)
      child.once('exit', () => children.delete(child))
    },
  }
}
