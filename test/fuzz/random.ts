/** Random choices from a seed: equal seeds give equal sequences (mulberry32). */
export interface Random {
  /** An integer from 0 to below this. */
  int(below: number): number
  chance(probability: number): boolean
  /** @throws RangeError for an empty list. */
  pick<T>(items: readonly T[]): T
  bytes(length: number): Buffer
  uuid(): string
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const int = (below: number) => Math.floor(next() * below)
  const bytes = (length: number) => Buffer.from(Array.from({ length }, () => int(256)))
  return {
    int,
    chance: (probability) => next() < probability,
    pick<T>(items: readonly T[]): T {
      if (items.length === 0) throw new RangeError('nothing to choose from')
      return items[int(items.length)] as T
    },
    bytes,
    uuid() {
      const hex = bytes(16).toString('hex')
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`
    },
  }
}
