/** Caches of the index. Each has one limit for everybody, in bytes, so that the number of people and their libraries does not count. */
import { LRUCache } from 'lru-cache'

interface Sized {
  readonly byteLength: number
}

const BYTES_PER_ENTRY = 200

class CountedCache<Value extends Sized> extends LRUCache<string, Value> {
  override get(key: string): Value | undefined {
    const value = super.get(key)
    if (value === undefined) lookups.misses += 1
    else lookups.hits += 1
    return value
  }
}

const lookups = { hits: 0, misses: 0 }
const caches: { readonly calculatedSize: number }[] = []

/** Drops what was used longest ago. Values must not be views of larger buffers. */
export function createByteCache<Value extends Sized>(maxBytes: number): LRUCache<string, Value> {
  const cache = new CountedCache<Value>({
    maxSize: maxBytes,
    sizeCalculation: ({ byteLength }) => byteLength + BYTES_PER_ENTRY,
  })
  caches.push(cache)
  return cache
}

export const countCachedBytes = (): number => caches.reduce((bytes, { calculatedSize }) => bytes + calculatedSize, 0)

/** Look-ups since the start of the process. */
export const countCacheLookups = (): Readonly<typeof lookups> => lookups
