/**
 * Yields values in order of arrival.
 * @param stop called at the end, also after an error or an early return; must make the other generators end.
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
    // A generator ends only after its pending `next`.
    await Promise.allSettled([...pending].flatMap(([generator, last]) => [last, generator.return(undefined)]))
  }
}
