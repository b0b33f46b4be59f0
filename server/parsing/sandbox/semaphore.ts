/** How many things may run at a time, and who goes next where more are wanted. */
export interface Slots {
  readonly count: number
  /**
   * Runs through the generator once there is room. Owners who wait are served in turn, and of what one owner waits for that
   * of which least is left, then what came first: what is short is not kept waiting, and what is long ends one by one.
   * @throws the signal's reason where it is aborted before
   */
  hold<T>(signal: AbortSignal, run: () => AsyncGenerator<T>, turn?: Turn): AsyncGenerator<T>
}

export interface Turn {
  readonly owner: string
  /** How much there is still to do of what this is a part of; asked whenever somebody is chosen. */
  readonly left: () => number
}

const NOBODYS: Turn = { owner: '', left: () => 0 }

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

  function serve({ owner }: Turn): void {
    served += 1
    lastServed.set(owner, served)
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

  const compareTurns = (one: Turn, other: Turn): number =>
    (lastServed.get(one.owner) ?? 0) - (lastServed.get(other.owner) ?? 0) || one.left() - other.left()

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
    async *hold(signal, run, turn = NOBODYS) {
      await take(signal, turn)
      try {
        yield* run()
      } finally {
        giveBack()
      }
    },
  }
}
