/** How many things may run at a time, first come first served. */
export interface Slots {
  readonly count: number
  /** Runs through the generator once there is room. @throws the signal's reason where it is aborted before */
  hold<T>(signal: AbortSignal, run: () => AsyncGenerator<T>): AsyncGenerator<T>
}

export function createSlots(count: number): Slots {
  const waiting: (() => void)[] = []
  let taken = 0

  async function take(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (taken < count) {
      taken += 1
      return
    }
    const turn = Promise.withResolvers<undefined>()
    const enter = () => turn.resolve(undefined)
    const leave = () => {
      waiting.splice(waiting.indexOf(enter), 1)
      turn.reject(signal.reason)
    }
    waiting.push(enter)
    signal.addEventListener('abort', leave, { once: true })
    await turn.promise
    signal.removeEventListener('abort', leave)
  }

  /** The slot goes straight to who has waited longest. */
  function giveBack(): void {
    const next = waiting.shift()
    if (next) next()
    else taken -= 1
  }

  return {
    count,
    async *hold(signal, run) {
      await take(signal)
      try {
        yield* run()
      } finally {
        giveBack()
      }
    },
  }
}
