import { expect, test } from 'vitest'
import { mergeInOrderOfArrival } from './merge.ts'
import { createSlots } from './slots.ts'

const signal = new AbortController().signal

test('as many run at a time as there are slots, and all of them in the end', async () => {
  const slots = createSlots(2)
  let running = 0
  let most = 0
  async function* work(name: number) {
    running += 1
    most = Math.max(most, running)
    await new Promise(setImmediate)
    yield name
    running -= 1
  }
  const all = Array.from({ length: 6 }, (_, name) => slots.hold(signal, () => work(name)))
  const seen: number[] = []
  for await (const name of mergeInOrderOfArrival(all, () => undefined)) seen.push(name)
  expect(seen.toSorted()).toEqual([0, 1, 2, 3, 4, 5])
  expect(most).toBe(2)
})

test('when one fails the others are stopped, also those that still wait for a slot', async () => {
  const slots = createSlots(1)
  const stopping = new AbortController()
  async function* fails() {
    yield 1
    throw new Error('broken')
  }
  async function* never() {
    yield 2
  }
  const all = [slots.hold(stopping.signal, fails), slots.hold(stopping.signal, never)]
  const drain = async () => {
    for await (const value of mergeInOrderOfArrival(all, () => stopping.abort())) expect(value).toBe(1)
  }
  await expect(drain()).rejects.toThrow('broken')
  const seen: number[] = []
  for await (const value of slots.hold(signal, never)) seen.push(value)
  expect(seen).toEqual([2])
})

test('those who wait are served in turn: each owner, of an owner each file, then who came first', async () => {
  const slots = createSlots(1)
  const order: string[] = []
  const hold = (name: string, turn: string[]) =>
    slots.hold(
      signal,
      async function* () {
        order.push(name)
        yield name
      },
      turn,
    )
  const all = [
    hold('long 1', ['ann', 'long']),
    hold('long 2', ['ann', 'long']),
    hold('long 3', ['ann', 'long']),
    hold('short 1', ['ann', 'short']),
    hold('other 1', ['bob', 'other']),
    hold('other 2', ['bob', 'other']),
  ]
  for await (const name of mergeInOrderOfArrival(all, () => undefined)) expect(order).toContain(name)
  expect(order).toEqual(['long 1', 'other 1', 'short 1', 'other 2', 'long 2', 'long 3'])
})
