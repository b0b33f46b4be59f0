/** How many things may run at a time, and who goes next where more are wanted. */
export interface Slots {
  readonly count: number
  /**
   * Runs through the generator once there is room. Whoever waits is served in turn: `turn` names whom the slot is for,
   * widest first, and of those who wait that one is next whose first name was served longest ago, then whose second was,
   * then who came first.
   * @throws the signal's reason where it is aborted before
   */
  hold<T>(signal: AbortSignal, run: () => AsyncGenerator<T>, turn?: Turn): AsyncGenerator<T>
}

export type Turn = readonly string[]

interface Waiter {
  readonly turn: Turn
  enter(): void
}

export function createSlots(count: number): Slots {
  const waiting: Waiter[] = []
  /** Counts up; only the order matters. */
  const lastServed = new Map<string, number>()
  let served = 0
  let taken = 0

  function serve(turn: Turn): void {
    served += 1
    for (const name of turn) lastServed.set(name, served)
  }

  async function take(signal: AbortSignal, turn: Turn): Promise<void> {
    signal.throwIfAborted()
    if (taken < count) {
      taken += 1
      serve(turn)
      return
    }
    const entered = Promise.withResolvers<undefined>()
    const leave = () => {
      waiting.splice(waiting.indexOf(waiter), 1)
      entered.reject(signal.reason)
    }
    const enter = () => {
      signal.removeEventListener('abort', leave)
      entered.resolve(undefined)
    }
    const waiter = { turn, enter }
    waiting.push(waiter)
    signal.addEventListener('abort', leave, { once: true })
    await entered.promise
  }

  function compareTurns(one: Turn, other: Turn): number {
    for (const [place, name] of one.entries()) {
      const difference = (lastServed.get(name) ?? 0) - (lastServed.get(other[place] ?? '') ?? 0)
      if (difference !== 0) return difference
    }
    return 0
  }

  /** The slot goes straight to whoever is next. */
  function giveBack(): void {
    const [next] = waiting.toSorted((one, other) => compareTurns(one.turn, other.turn))
    if (!next) {
      taken -= 1
      lastServed.clear()
      return
    }
    waiting.splice(waiting.indexOf(next), 1)
    serve(next.turn)
    next.enter()
  }

  return {
    count,
    async *hold(signal, run, turn = []) {
      await take(signal, turn)
      try {
        yield* run()
      } finally {
        giveBack()
      }
    },
  }
}
