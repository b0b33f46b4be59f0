export interface IdleTimeout {
  readonly signal: AbortSignal
  reset(): void
  /** For a sign of life without output: extends the wait to at most `MAX_IDLE_PERIODS` timeouts. */
  keepAlive(): void
  setPaused(isPaused: boolean): void
  stop(): void
}

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
