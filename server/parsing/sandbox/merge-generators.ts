/**
 * Runs all at once and yields what comes first.
 * @param stop is called at the end, also when one fails or nobody wants the rest: it should make the others end.
 */
export async function* mergeInOrderOfArrival<T>(
  generators: readonly AsyncGenerator<T>[],
  stop: () => void,
): AsyncGenerator<T> {
  const next = async (generator: AsyncGenerator<T>) => ({ generator, result: await generator.next() })
  const pending = new Map(generators.map((generator) => [generator, next(generator)]))
  try {
    while (pending.size > 0) {
      const { generator, result } = await Promise.race(pending.values())
      if (result.done === true) {
        pending.delete(generator)
        continue
      }
      pending.set(generator, next(generator))
      yield result.value
    }
  } finally {
    stop()
    // A generator ends after the `next` that it is in, so what it still says is waited for and dropped.
    await Promise.allSettled([...pending].flatMap(([generator, last]) => [last, generator.return(undefined)]))
  }
}
