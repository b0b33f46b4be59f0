export interface IdleTimeout {
  /** Aborts when the provider has been idle for too long. */
  readonly signal: AbortSignal
  /** Restarts the timeout after output. */
  reset(): void
  /** Restarts the timeout after a sign of life without output, at most `MAX_IDLE_PERIODS` times the timeout. */
  keepAlive(): void
  /** A paused timeout never aborts. */
  setPaused(isPaused: boolean): void
  stop(): void
}

/** Keep-alives without output extend the wait to at most this many timeouts. */
export const MAX_IDLE_PERIODS = 5

export function startIdleTimeout(timeoutMs: number): IdleTimeout {
  const expired = new AbortController()
  let isPaused = false
  let hasStopped = false
  let lastOutputAt = performance.now()
  const timer = setTimeout(() => {
    if (!isPaused) expired.abort()
  }, timeoutMs)
  const reset = () => {
    lastOutputAt = performance.now()
    if (!hasStopped) timer.refresh()
  }
  return {
    signal: expired.signal,
    reset,
    keepAlive() {
      if (!hasStopped && performance.now() - lastOutputAt < MAX_IDLE_PERIODS * timeoutMs) timer.refresh()
    },
    setPaused(nowPaused) {
      isPaused = nowPaused
      reset()
    },
    stop() {
      hasStopped = true
      clearTimeout(timer)
    },
  }
}
