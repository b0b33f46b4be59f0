/** Owners who wait take turns, and those who wait for one owner pass in the order in which they came. */
export function createSemaphore(places: number): <T>(run: () => Promise<T>, owner?: string) => Promise<T> {
  const waiting = new Map<string, (() => void)[]>()
  let free = places

  function wait(owner: string): Promise<void> {
    return new Promise((resolve) => {
      const queue = waiting.get(owner)
      if (queue) queue.push(resolve)
      else waiting.set(owner, [resolve])
    })
  }

  function takeNext(): (() => void) | undefined {
    const [turn] = waiting
    if (!turn) return undefined
    const [owner, queue] = turn
    const next = queue.shift()
    waiting.delete(owner)
    // The next turn of this owner comes after everybody else's.
    if (queue.length > 0) waiting.set(owner, queue)
    return next
  }

  return async function pass(run, owner = '') {
    if (free > 0) free -= 1
    else await wait(owner)
    try {
      return await run()
    } finally {
      const next = takeNext()
      if (next) next()
      else free += 1
    }
  }
}
