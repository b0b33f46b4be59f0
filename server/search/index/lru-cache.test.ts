import { expect, test } from 'vitest'
import { createKeptBytes } from './lru-cache.ts'

test('forgets what has not been used for longest once it is full', () => {
  const kept = createKeptBytes<Uint8Array>(3_000)
  for (const key of ['one', 'two', 'three']) kept.set(key, new Uint8Array(700))
  expect(kept.get('one')).toHaveLength(700)
  kept.set('four', new Uint8Array(700))
  expect(['one', 'two', 'three', 'four'].filter((key) => kept.get(key))).toEqual(['one', 'three', 'four'])
})

test('counts a value that is replaced once, and keeps nothing larger than itself', () => {
  const kept = createKeptBytes<Uint8Array>(1_000)
  for (let round = 0; round < 5; round += 1) kept.set('one', new Uint8Array(300))
  kept.set('two', new Uint8Array(100))
  expect([kept.get('one'), kept.get('two')].map((value) => value?.length)).toEqual([300, 100])
  kept.set('three', new Uint8Array(2_000))
  expect(['one', 'two', 'three'].filter((key) => kept.get(key))).toEqual([])
})
