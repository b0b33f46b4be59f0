/** `localStorage` and `sessionStorage`, with memory for what they refuse or have no room for. */
import { markStored, markUnstored, setStorageRefused, type UnstoredKind } from './unstored.ts'

/** True if the browser has no room; false for other failures. Names differ between browsers. */
const isQuotaError = (error: unknown): boolean =>
  error instanceof Error && /quota/i.test(`${error.name} ${error.message}`)

type StorageName = 'localStorage' | 'sessionStorage'

/** Browsers refuse storage in several ways: access throws, the object is null, or one of its methods throws. */
function createTextStore(name: StorageName, onRefused: () => void, onWritten: () => void) {
  /** Last value of each key that this page read or wrote. */
  const known = new Map<string, string>()
  const unstored = new Set<string>()
  const entryOf = (key: string): string => `${name} ${key}`

  /** Returns undefined if the browser refuses. */
  function attempt<T>(act: (storage: Storage) => T): T | undefined {
    try {
      return act(window[name])
    } catch (error) {
      if (!isQuotaError(error)) onRefused()
      return undefined
    }
  }

  function getItem(key: string): string | null {
    const value = unstored.has(key) ? undefined : attempt((storage) => storage.getItem(key) ?? null)
    if (value === undefined) return known.get(key) ?? null
    if (value === null) known.delete(key)
    else known.set(key, value)
    return value
  }

  /** @param kind the notice about what is not stored names it; a value without kind is not mentioned */
  function setItem(key: string, value: string, kind?: UnstoredKind): void {
    known.set(key, value)
    const isStored = attempt((storage) => {
      storage.setItem(key, value)
      return true
    })
    if (isStored === true) {
      onWritten()
      unstored.delete(key)
      return markStored(entryOf(key))
    }
    unstored.add(key)
    // The server has replaced the refresh token of the older session: a page that used it would end both.
    if (kind === 'session') attempt((storage) => storage.removeItem(key))
    if (kind !== undefined) markUnstored(entryOf(key), kind, () => setItem(key, value, kind))
  }

  /** Drops a value that only this page has: another page has stored or removed a newer one. */
  function forgetUnstored(key: string): void {
    if (unstored.delete(key)) known.delete(key)
    markStored(entryOf(key))
  }

  function removeItem(key: string): void {
    known.delete(key)
    forgetUnstored(key)
    attempt((storage) => storage.removeItem(key))
  }

  const keys = (): string[] => [...new Set([...known.keys(), ...(attempt((storage) => Object.keys(storage)) ?? [])])]

  return { getItem, setItem, removeItem, forgetUnstored, keys }
}

export const localStore = createTextStore(
  'localStorage',
  () => setStorageRefused(true),
  () => setStorageRefused(false),
)

/** One per tab. */
export const tabStore = createTextStore(
  'sessionStorage',
  () => undefined,
  () => undefined,
)
