/** Gives a provider up that says nothing for too long. */

export interface Silence {
  /** Aborted once it has lasted too long. */
  readonly signal: AbortSignal
  /** Something was said: the time begins anew. */
  broken(): void
  /** Nothing is to be heard meanwhile, however long it takes. */
  allow(isAllowed: boolean): void
  end(): void
}

/** Begins at once. */
export function watchSilence(longestMs: number): Silence {
  const tooLong = new AbortController()
  let isAllowed = false
  let hasEnded = false
  const timer = setTimeout(() => {
    if (!isAllowed) tooLong.abort()
  }, longestMs)
  return {
    signal: tooLong.signal,
    broken() {
      if (!hasEnded) timer.refresh()
    },
    allow(nowAllowed) {
      isAllowed = nowAllowed
      if (!hasEnded) timer.refresh()
    },
    end() {
      hasEnded = true
      clearTimeout(timer)
    },
  }
}
