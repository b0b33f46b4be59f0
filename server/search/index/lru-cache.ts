interface Sized {
  readonly byteLength: number
}

/** Keeps what was read before, as long as it fits: the least recently used goes first. */
export interface KeptBytes<T extends Sized> {
  get(key: string): T | undefined
  set(key: string, value: T): void
}

/** What a key and its place in the map take, about. */
const BYTES_PER_ENTRY = 200

export function createKeptBytes<T extends Sized>(mostBytes: number): KeptBytes<T> {
  // In the order of use.
  const kept = new Map<string, T>()
  let bytes = 0

  function forget(key: string): void {
    const value = kept.get(key)
    if (value && kept.delete(key)) bytes -= value.byteLength + BYTES_PER_ENTRY
  }

  return {
    get(key) {
      const value = kept.get(key)
      if (value && kept.delete(key)) kept.set(key, value)
      return value
    },
    set(key, value) {
      forget(key)
      kept.set(key, value)
      bytes += value.byteLength + BYTES_PER_ENTRY
      for (const oldest of kept.keys()) {
        if (bytes <= mostBytes) return
        forget(oldest)
      }
    },
  }
}
