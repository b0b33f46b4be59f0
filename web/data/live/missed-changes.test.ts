import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { forgetMoment, readMissedChanges, untilMomentKnown } from './missed-changes.ts'

vi.mock('#web/data/auth/session.ts', () => ({ accessToken: () => Promise.resolve(null) }))

const NOTHING = {
  is_complete: true,
  conversations: [],
  documents: [],
  deleted_conversations: [],
  deleted_documents: [],
  have_models_changed: false,
}
/** Addresses that were asked for. */
let asked: string[]
let answers: PromiseWithResolvers<undefined>

beforeEach(() => {
  vi.useFakeTimers()
  forgetMoment()
  asked = []
  answers = Promise.withResolvers()
  vi.stubGlobal('fetch', async (address: string) => {
    asked.push(address)
    await answers.promise
    return Response.json({ ...NOTHING, moment: `after ${asked.length}` })
  })
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

/** Whether a read that began now goes on within this time. */
async function goesOnWithin(milliseconds: number): Promise<boolean> {
  let goesOn = false
  void untilMomentKnown().then(() => {
    goesOn = true
  })
  await vi.advanceTimersByTimeAsync(milliseconds)
  return goesOn
}

test('reads follow one moment, since which changes are asked for', async () => {
  expect(await goesOnWithin(200)).toBe(false)
  answers.resolve(undefined)
  expect(await goesOnWithin(0)).toBe(true)
  expect(await goesOnWithin(0)).toBe(true)
  expect(await readMissedChanges()).toEqual({ ...NOTHING, moment: 'after 2' })
  expect(asked).toEqual(['/api/changes', '/api/changes?since=after%201'])
})

test('a read does not wait for ever; then it is not known what changed', async () => {
  expect(await goesOnWithin(2_999)).toBe(false)
  expect(await goesOnWithin(1)).toBe(true)
  answers.resolve(undefined)
  expect(await readMissedChanges()).toBeNull()
})

test('a read that was aborted meanwhile, because a new one replaces it, ends', async () => {
  const aborting = new AbortController()
  const waiting = untilMomentKnown(aborting.signal)
  aborting.abort(new Error('replaced'))
  answers.resolve(undefined)
  await expect(waiting).rejects.toThrow('replaced')
})

test('the next person waits again', async () => {
  answers.resolve(undefined)
  expect(await goesOnWithin(0)).toBe(true)
  forgetMoment()
  answers = Promise.withResolvers()
  expect(await goesOnWithin(200)).toBe(false)
})
