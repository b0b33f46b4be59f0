/** Yields in order of arrival. `stop` is called at the end, even after an error, and must end the other generators. */
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
