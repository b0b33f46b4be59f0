import { expect, test } from 'vitest'
import { mergeInOrderOfArrival } from './merge-generators.ts'
import { createFairSemaphore } from './semaphore.ts'

const signal = new AbortController().signal

test('no more generators run at once than the capacity allows, and all finish', async () => {
  const semaphore = createFairSemaphore(2)
  let running = 0
  let most = 0
  async function* work(name: number) {
    running += 1
    most = Math.max(most, running)
    await new Promise(setImmediate)
    yield name
    running -= 1
  }
  const all = Array.from({ length: 6 }, (_, name) => semaphore.run(signal, () => work(name)))
  const seen: number[] = []
  for await (const name of mergeInOrderOfArrival(all, () => undefined)) seen.push(name)
  expect(seen.toSorted()).toEqual([0, 1, 2, 3, 4, 5])
  expect(most).toBe(2)
})

test('a failure stops the other generators, including waiting ones', async () => {
  const semaphore = createFairSemaphore(1)
  const stopping = new AbortController()
  async function* fails() {
    yield 1
    throw new Error('broken')
  }
  async function* never() {
    yield 2
  }
  const all = [semaphore.run(stopping.signal, fails), semaphore.run(stopping.signal, never)]
  const drain = async () => {
    for await (const value of mergeInOrderOfArrival(all, () => stopping.abort())) expect(value).toBe(1)
  }
  await expect(drain()).rejects.toThrow('broken')
  const seen: number[] = []
  for await (const value of semaphore.run(signal, never)) seen.push(value)
  expect(seen).toEqual([2])
})

test('owners take turns, and within one owner the work with the least remaining goes first', async () => {
  const semaphore = createFairSemaphore(1)
  const order: string[] = []
  const left = new Map([
    ['long', 3],
    ['longer', 4],
    ['short', 1],
    ['other', 9],
  ])
  const hold = (owner: string, file: string) =>
    semaphore.run(
      signal,
      async function* () {
        order.push(file)
        yield file
        left.set(file, (left.get(file) ?? 0) - 1)
      },
      { owner, remaining: () => left.get(file) ?? 0 },
    )
  const all = [
    hold('ann', 'longer'),
    ...['long', 'long', 'longer', 'short'].map((file) => hold('ann', file)),
    ...['other', 'other'].map((file) => hold('bob', file)),
  ]
  for await (const file of mergeInOrderOfArrival(all, () => undefined)) expect(order).toContain(file)
  expect(order).toEqual(['longer', 'other', 'short', 'other', 'long', 'long', 'longer'])
})
