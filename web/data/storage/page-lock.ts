/** Web Locks: held by a page, and released with it, however it ends. A browser that has none lets every page proceed. */

/** Returns the function that releases the lock. */
export function holdLock(name: string): () => void {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  void requestLock(name, {}, () => promise)
  return () => resolve(undefined)
}

/** Waits for the lock, and calls `act` under it. */
export const withLock = (name: string, act: () => Promise<void>): Promise<void> => requestLock(name, {}, act)

/** Calls `act` under the lock unless another page holds it. */
export async function withFreeLock(name: string, act: () => Promise<void>): Promise<void> {
  await requestLock(name, { ifAvailable: true }, async (lock) => {
    if (lock !== null) await act()
  })
}

/** The names of the locks that any page of this origin holds; undefined where the browser does not say. */
export async function readHeldLocks(): Promise<string[] | undefined> {
  try {
    const { held = [] } = await navigator.locks.query()
    return held.map(({ name = '' }) => name)
  } catch {
    return undefined
  }
}

/** Calls `act` without a lock (`undefined`) where the browser refuses or lacks them. */
async function requestLock(
  name: string,
  options: LockOptions,
  act: (lock: Lock | null | undefined) => Promise<void>,
): Promise<void> {
  let begun: Promise<void> | undefined
  try {
    await navigator.locks.request(name, options, (lock) => (begun = act(lock)))
  } catch (error) {
    if (begun !== undefined) throw error
    await act(undefined)
  }
}
