import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { forgetChangesReady, markChangesReady, untilChangesReady } from './changes-ready.ts'

beforeEach(() => {
  vi.useFakeTimers()
  forgetChangesReady()
})
afterEach(() => vi.useRealTimers())

/** Whether a read that began now goes on within this time. */
async function goesOnWithin(milliseconds: number, signal?: AbortSignal): Promise<boolean> {
  let goesOn = false
  void untilChangesReady(signal).then(() => {
    goesOn = true
  })
  await vi.advanceTimersByTimeAsync(milliseconds)
  return goesOn
}

test('a read waits until changes arrive', async () => {
  expect(await goesOnWithin(200)).toBe(false)
  markChangesReady()
  expect(await goesOnWithin(0)).toBe(true)
})

test('a read does not wait for a slow channel, and later ones do not wait at all', async () => {
  expect(await goesOnWithin(300)).toBe(true)
  expect(await goesOnWithin(0)).toBe(true)
})

test('a read that was aborted meanwhile, because a new one replaces it, ends', async () => {
  const aborting = new AbortController()
  const waiting = untilChangesReady(aborting.signal)
  aborting.abort(new Error('replaced'))
  markChangesReady()
  await expect(waiting).rejects.toThrow('replaced')
})

test('the next person waits again', async () => {
  markChangesReady()
  forgetChangesReady()
  expect(await goesOnWithin(200)).toBe(false)
})
