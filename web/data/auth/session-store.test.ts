import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createSessionStore } from './session-store.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const KEY = 'session'

let texts: Map<string, string>
/** Milliseconds that passed, and by which the clock of the browser is wrong. */
let time: { passed: number; error: number }

beforeEach(() => {
  texts = new Map()
  time = { passed: 0, error: 0 }
  vi.spyOn(performance, 'now').mockImplementation(() => time.passed)
  vi.spyOn(Date, 'now').mockImplementation(() => Date.UTC(2030, 0) + time.passed + time.error)
})
afterEach(() => {
  vi.restoreAllMocks()
})

const openPage = () =>
  createSessionStore(
    {
      getItem: (key) => texts.get(key) ?? null,
      setItem: (key, text) => void texts.set(key, text),
      removeItem: (key) => void texts.delete(key),
    },
    KEY,
  )
type Store = ReturnType<typeof openPage>

/** A session of the server, whose clock is right and whose tokens live for an hour. */
function issue(name: string): string {
  const iat = (Date.UTC(2030, 0) + time.passed) / 1000
  const claims = btoa(JSON.stringify({ iat, exp: iat + 3600 }))
  return JSON.stringify({
    access_token: `${name}.${claims}.`,
    refresh_token: name,
    expires_in: 3600,
    expires_at: iat + 3600,
  })
}

/** Minutes that the auth client takes the token to live on. */
function minutesLeft(store: Store): number {
  const { expires_at: expiresAt } = JSON.parse(store.getItem(KEY) ?? '{}') as { expires_at: number }
  return Math.round((expiresAt * 1000 - Date.now()) / MINUTE_MS)
}

test.for([-24 * 60, -90, 59, 90, 24 * 60])(
  'a token lives for an hour by a clock that is wrong by %s minutes',
  (wrong) => {
    time.error = wrong * MINUTE_MS
    const store = openPage()
    store.setItem(KEY, issue('first'))
    expect(minutesLeft(store)).toBe(60)
    time.passed += 20 * MINUTE_MS
    expect(minutesLeft(store)).toBe(40)
    expect(minutesLeft(openPage())).toBe(40)
  },
)

test('a clock that is set back does not lengthen its life, nor does one that is set forth', () => {
  for (const error of [-24 * HOUR_MS, -10 * MINUTE_MS]) {
    time = { passed: 0, error: 0 }
    const store = openPage()
    store.setItem(KEY, issue(`set back ${error}`))
    time = { passed: 20 * MINUTE_MS, error }
    expect(minutesLeft(store)).toBe(40)
  }
  const store = openPage()
  store.setItem(KEY, issue('set forth'))
  time.error = 24 * HOUR_MS
  expect(minutesLeft(store)).toBeLessThan(0)
  store.setItem(KEY, issue('renewed'))
  expect(minutesLeft(store)).toBe(60)
})

test('a page that opens with a clock behind the arrival does not know the age, and lets the token be renewed once', () => {
  openPage().setItem(KEY, issue('first'))
  time.error = -2 * HOUR_MS
  const store = openPage()
  expect(minutesLeft(store)).toBeLessThan(0)
  store.setItem(KEY, issue('second'))
  expect(minutesLeft(store)).toBe(60)
  expect(minutesLeft(openPage())).toBe(60)
})

test('a token that another tab stores while this one is open is new, whatever the clocks of the two say', () => {
  const [one, other] = [openPage(), openPage()]
  one.setItem(KEY, issue('first'))
  expect(minutesLeft(other)).toBe(60)
  time.error = HOUR_MS
  one.setItem(KEY, issue('second'))
  time.error = -HOUR_MS
  expect(minutesLeft(other)).toBe(60)
})

test('a session that is changed keeps its age, as when the profile is saved', () => {
  const store = openPage()
  store.setItem(KEY, issue('first'))
  time.passed += 20 * MINUTE_MS
  store.setItem(KEY, store.getItem(KEY) ?? '')
  expect(minutesLeft(store)).toBe(40)
  expect(minutesLeft(openPage())).toBe(40)
})

test('a rejected token is renewed by its next reader, but not one that has just come', () => {
  const store = openPage()
  store.setItem(KEY, issue('first'))
  const { access_token: token } = JSON.parse(store.getItem(KEY) ?? '{}') as { access_token: string }
  expect(store.expire(token)).toBe(false)
  expect(minutesLeft(store)).toBe(60)
  time.passed += 5 * MINUTE_MS
  expect(store.expire(token)).toBe(true)
  expect(minutesLeft(store)).toBeLessThan(0)
})

test('tells that another tab has renewed the tokens which were read here', () => {
  const [one, other] = [openPage(), openPage()]
  one.setItem(KEY, issue('first'))
  other.getItem(KEY)
  expect(other.replacementOf('first')).toBeNull()
  one.setItem(KEY, issue('second'))
  expect(JSON.parse(other.replacementOf('first') ?? '{}')).toMatchObject({ refresh_token: 'second' })
  expect(other.replacementOf('of another session')).toBeNull()
})

test('knows the time of the server', () => {
  const store = openPage()
  expect(store.serverTime()).toBe(Date.now())
  time.error = 5 * HOUR_MS
  store.setItem(KEY, issue('first'))
  time.passed += 7 * MINUTE_MS
  expect(store.serverTime()).toBe(Date.UTC(2030, 0) + time.passed)
})

test('a session that was marked as expired is expired, also for a page that knows its token', () => {
  const store = openPage()
  store.setItem(KEY, issue('first'))
  texts.set(KEY, JSON.stringify({ ...(JSON.parse(texts.get(KEY) ?? '{}') as object), expires_at: 1 }))
  expect(minutesLeft(store)).toBeLessThan(0)
  expect(minutesLeft(openPage())).toBeLessThan(0)
})

test('sessions of earlier versions, other keys and broken texts are read as they are', () => {
  const store = openPage()
  texts.set(KEY, issue('early'))
  expect(store.getItem(KEY)).toBe(issue('early'))
  texts.set(KEY, 'no session')
  expect(store.getItem(KEY)).toBe('no session')
  store.setItem('other', 'text')
  expect(store.getItem('other')).toBe('text')
  store.removeItem('other')
  expect(store.getItem('other')).toBeNull()
})
