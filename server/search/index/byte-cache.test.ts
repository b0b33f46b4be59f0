import { expect, test } from 'vitest'
import { countCachedBytes, createByteCache } from './byte-cache.ts'

test('entries of any number and size stay within one limit, those used last', () => {
  const before = countCachedBytes()
  const cache = createByteCache<Uint8Array>(100_000)
  for (let person = 0; person < 1_000; person += 1) {
    for (let block = 0; block < 10; block += 1) cache.set(`${person} ${block}`, new Uint8Array((person * 37) % 5_000))
    expect(countCachedBytes() - before).toBeLessThanOrEqual(100_000)
  }
  expect(cache.get('999 9')).toBeDefined()
  expect(cache.get('0 0')).toBeUndefined()
})

test('an entry above the limit is not held', () => {
  const before = countCachedBytes()
  createByteCache<Uint8Array>(1_000).set('large', new Uint8Array(1_001))
  expect(countCachedBytes()).toBe(before)
})
