/** Limits concurrency and shares it fairly between owners. */
export interface FairSemaphore {
  readonly capacity: number
  /** Owners take turns; within one, the least remaining work goes first, then the oldest. @throws the abort reason. */
  run<T>(signal: AbortSignal, run: () => AsyncGenerator<T>, turn?: WorkItem): AsyncGenerator<T>
}

export interface WorkItem {
  readonly owner: string
  readonly remaining: () => number
}

const UNOWNED: WorkItem = { owner: '', remaining: () => 0 }

interface Waiter {
  readonly turn: WorkItem
  enter(): void
}

export function createFairSemaphore(count: number): FairSemaphore {
  const waiting: Waiter[] = []
  const lastServed = new Map<string, number>()
  let served = 0
  let taken = 0

  function markServed({ owner }: WorkItem): void {
    served += 1
    lastServed.set(owner, served)
  }

  async function acquire(signal: AbortSignal, turn: WorkItem): Promise<void> {
    signal.throwIfAborted()
    if (taken < count) {
      taken += 1
      markServed(turn)
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

  const compareWorkItems = (one: WorkItem, other: WorkItem): number =>
    (lastServed.get(one.owner) ?? 0) - (lastServed.get(other.owner) ?? 0) || one.remaining() - other.remaining()

  function release(): void {
    const [next] = waiting.toSorted((one, other) => compareWorkItems(one.turn, other.turn))
    if (!next) {
      taken -= 1
      lastServed.clear()
      return
    }
    waiting.splice(waiting.indexOf(next), 1)
    markServed(next.turn)
    next.enter()
  }

  return {
    capacity: count,
    async *run(signal, run, turn = UNOWNED) {
      await acquire(signal, turn)
      try {
        yield* run()
      } finally {
        release()
      }
    },
  }
}
