/** Gives a provider up that says nothing for too long. */

export interface Silence {
  /** Aborted once it has lasted too long. */
  readonly signal: AbortSignal
  /** Something was said: the time begins anew. */
  broken(): void
  /** A sign that the provider is still at it, as some send while a model thinks: the time begins anew, but not for ever. */
  heard(): void
  /** Nothing is to be heard meanwhile, however long it takes. */
  allow(isAllowed: boolean): void
  end(): void
}

/** For so many silences on end a provider may give signs and say nothing, or write an answer that comes as a whole. */
export const MOST_SILENCES = 5

/** Begins at once. */
export function watchSilence(longestMs: number): Silence {
  const tooLong = new AbortController()
  let isAllowed = false
  let hasEnded = false
  let brokenAt = performance.now()
  const timer = setTimeout(() => {
    if (!isAllowed) tooLong.abort()
  }, longestMs)
  const broken = () => {
    brokenAt = performance.now()
    if (!hasEnded) timer.refresh()
  }
  return {
    signal: tooLong.signal,
    broken,
    heard() {
      if (!hasEnded && performance.now() - brokenAt < MOST_SILENCES * longestMs) timer.refresh()
    },
    allow(nowAllowed) {
      isAllowed = nowAllowed
      broken()
    },
    end() {
      hasEnded = true
      clearTimeout(timer)
    },
  }
}
