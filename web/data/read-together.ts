/**
 * Reads of single values that are asked for in one turn of the event loop become one read of many.
 *
 * @param readMany values by id, without those that do not exist
 */
export function readTogether<Value>(
  readMany: (ids: readonly string[]) => Promise<ReadonlyMap<string, Value>>,
): (id: string) => Promise<Value | null> {
  let next: { readonly ids: Set<string>; readonly values: Promise<ReadonlyMap<string, Value>> } | undefined

  function begin(): NonNullable<typeof next> {
    const ids = new Set<string>()
    const values = new Promise<void>((resolve) => setTimeout(resolve)).then(() => {
      next = undefined
      return readMany([...ids])
    })
    return { ids, values }
  }

  return async (id) => {
    next ??= begin()
    next.ids.add(id)
    return (await next.values).get(id) ?? null
  }
}
