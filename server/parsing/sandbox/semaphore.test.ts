import { expect, test } from 'vitest'
import { mergeInOrderOfArrival } from './merge-generators.ts'
import { createFairSemaphore } from './semaphore.ts'

const signal = new AbortController().signal

test('as many run at a time as there are slots, and all of them in the end', async () => {
  const slots = createFairSemaphore(2)
  let running = 0
  let most = 0
  async function* work(name: number) {
    running += 1
    most = Math.max(most, running)
    await new Promise(setImmediate)
    yield name
    running -= 1
  }
  const all = Array.from({ length: 6 }, (_, name) => slots.run(signal, () => work(name)))
  const seen: number[] = []
  for await (const name of mergeInOrderOfArrival(all, () => undefined)) seen.push(name)
  expect(seen.toSorted()).toEqual([0, 1, 2, 3, 4, 5])
  expect(most).toBe(2)
})

test('when one fails the others are stopped, also those that still wait for a slot', async () => {
  const slots = createFairSemaphore(1)
  const stopping = new AbortController()
  async function* fails() {
    yield 1
    throw new Error('broken')
  }
  async function* never() {
    yield 2
  }
  const all = [slots.run(stopping.signal, fails), slots.run(stopping.signal, never)]
  const drain = async () => {
    for await (const value of mergeInOrderOfArrival(all, () => stopping.abort())) expect(value).toBe(1)
  }
  await expect(drain()).rejects.toThrow('broken')
  const seen: number[] = []
  for await (const value of slots.run(signal, never)) seen.push(value)
  expect(seen).toEqual([2])
})

test('owners are served in turn, and of what one of them waits for that of which least is left', async () => {
  const slots = createFairSemaphore(1)
  const order: string[] = []
  const left = new Map([
    ['long', 3],
    ['longer', 4],
    ['short', 1],
    ['other', 9],
  ])
  const hold = (owner: string, file: string) =>
    slots.run(
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
