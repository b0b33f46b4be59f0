import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { ChangesSince } from '#contract/changes.ts'
import { forgetMoment, untilMomentKnown } from './missed-changes.ts'
import { type Follower, pollChanges } from './polling.ts'

vi.mock('#web/data/auth/session.ts', () => ({ accessToken: () => Promise.resolve(null) }))

const NOTHING = {
  is_complete: true,
  conversations: [],
  documents: [],
  deleted_conversations: [],
  deleted_documents: [],
  have_models_changed: false,
}

let asked: string[]
/** How the next requests end, in turn; then with a complete answer. */
let outcomes: (() => Response | Promise<Response>)[]
let reports: boolean[]
let isExpecting: boolean
let applied: { changes: ChangesSince | null; isFirst: boolean }[]
let ending: AbortController
let page: EventTarget & { visibilityState: string }

const follower: Follower = {
  isExpecting: () => isExpecting,
  apply: (changes, isFirst) => {
    applied.push({ changes, isFirst })
    return Promise.resolve()
  },
}

beforeEach(async () => {
  vi.useFakeTimers()
  forgetMoment()
  ;[asked, outcomes, reports, applied, isExpecting] = [[], [], [], [], false]
  ending = new AbortController()
  page = Object.assign(new EventTarget(), { visibilityState: 'visible' })
  vi.stubGlobal('document', page)
  vi.stubGlobal('window', new EventTarget())
  vi.stubGlobal('fetch', async (address: string) => {
    asked.push(address)
    return (await outcomes.shift()?.()) ?? Response.json({ ...NOTHING, moment: `m${asked.length}` })
  })
  vi.spyOn(console, 'warn').mockImplementation(() => undefined)
  await untilMomentKnown()
  asked = []
})
afterEach(() => {
  ending.abort()
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

const poll = (...followers: Follower[]) =>
  void pollChanges(new Set(followers), ending.signal, (isAnswered) => reports.push(isAnswered))
const pass = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds)

test('asks every four seconds, every second while news is expected, and at once when that begins', async () => {
  poll(follower)
  await pass(3_999)
  expect(asked).toHaveLength(1)
  await pass(1)
  expect(asked).toHaveLength(2)
  await pass(2_000)
  isExpecting = true
  await pass(250)
  expect(asked).toHaveLength(3)
  await pass(5_000)
  expect(asked).toHaveLength(8)
})

test('a hidden page asks rarely, and at once when it is shown', async () => {
  isExpecting = true
  page.visibilityState = 'hidden'
  poll(follower)
  await pass(29_000)
  expect(asked).toHaveLength(1)
  page.visibilityState = 'visible'
  page.dispatchEvent(new Event('visibilitychange'))
  await pass(0)
  expect(asked).toHaveLength(2)
})

test('each question follows the answer before, and names the open conversation', async () => {
  poll(follower, { ...follower, conversationId: 'c' })
  await pass(4_000)
  expect(asked).toEqual(['/api/changes?since=m1&conversation=c', '/api/changes?since=m1&conversation=c'])
  expect(applied.map(({ isFirst }) => isFirst)).toEqual([true, true, false, false])
})

test('requests never overlap', async () => {
  isExpecting = true
  const slow = Promise.withResolvers<Response>()
  outcomes = [() => slow.promise]
  poll(follower)
  await pass(9_000)
  expect(asked).toHaveLength(1)
  slow.resolve(Response.json({ ...NOTHING, moment: 'late' }))
  await pass(1_000)
  expect(asked).toHaveLength(2)
})

test('failures are asked about less and less often, and at once when the browser is online', async () => {
  isExpecting = true
  outcomes = Array.from({ length: 3 }, () => () => Promise.reject(new TypeError('failed to fetch')))
  poll(follower)
  await pass(2_000)
  expect(asked).toHaveLength(2)
  await pass(3_999)
  expect(asked).toHaveLength(2)
  await pass(1)
  expect(asked).toHaveLength(3)
  expect(reports).toEqual([false, false, false])
  window.dispatchEvent(new Event('online'))
  await pass(0)
  expect(reports).toEqual([false, false, false, true])
  expect(console.warn).toHaveBeenCalledOnce()
})

test('a server that limits requests is no lost connection, one that fails is', async () => {
  outcomes = [() => new Response('', { status: 429 }), () => new Response('', { status: 502 })]
  poll(follower)
  await pass(2_000)
  expect(reports).toEqual([true, false])
})

test('where too much has changed everything is read again, and the next question is asked later', async () => {
  isExpecting = true
  outcomes = [() => Response.json({ ...NOTHING, is_complete: false, moment: 'now' })]
  poll(follower)
  await pass(3_999)
  expect(applied).toEqual([{ changes: null, isFirst: true }])
  await pass(1)
  expect(asked.at(-1)).toBe('/api/changes?since=now')
})

test('an answer that comes after the channels are back is dropped, and what it told is asked for again', async () => {
  const slow = Promise.withResolvers<Response>()
  outcomes = [() => slow.promise]
  poll(follower)
  await pass(0)
  ending.abort()
  slow.resolve(Response.json({ ...NOTHING, moment: 'too late' }))
  await pass(0)
  expect(applied).toEqual([])
  ending = new AbortController()
  poll(follower)
  await pass(0)
  expect(asked).toEqual(['/api/changes?since=m1', '/api/changes?since=m1'])
})
