/** Web Locks: held by a page, and released with it, however it ends. */

/** Returns the function that releases the lock. */
export function holdLock(name: string): () => void {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  navigator.locks.request(name, () => promise).catch((error: unknown) => console.error(error))
  return () => resolve(undefined)
}

/** Calls `act` under the lock unless another page holds it. */
export async function withFreeLock(name: string, act: () => Promise<void>): Promise<void> {
  await navigator.locks.request(name, { ifAvailable: true }, async (lock) => {
    if (lock !== null) await act()
  })
}
