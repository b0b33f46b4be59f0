interface Waiting<Item, Result> {
  readonly item: Item
  readonly answer: PromiseWithResolvers<Result>
}

/**
 * Calls `run` with all items that arrived while the call before was running. `run` returns a result for each, in order; if
 * it throws, every item of the call fails.
 */
export function gather<Item, Result>(
  run: (items: readonly Item[]) => Promise<readonly Result[]>,
): (item: Item) => Promise<Result> {
  let waiting: Waiting<Item, Result>[] = []
  let isRunning = false

  async function runWaiting(): Promise<void> {
    isRunning = true
    while (waiting.length > 0) {
      const taken = waiting
      waiting = []
      try {
        const results = await run(taken.map(({ item }) => item))
        for (const [index, result] of results.entries()) taken[index]?.answer.resolve(result)
      } catch (error) {
        for (const { answer } of taken) answer.reject(error)
      }
    }
    isRunning = false
  }

  return (item) => {
    const answer = Promise.withResolvers<Result>()
    waiting.push({ item, answer })
    if (!isRunning) void runWaiting()
    return answer.promise
  }
}
