import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { followNetwork, setChannelJoined, useConnection } from './connection.ts'

const CHANNEL = 'a channel'

const isLost = () => useConnection.getState().isLost
let browser: { onLine: boolean }
let page: EventTarget
let stop: () => void

beforeEach(() => {
  vi.useFakeTimers()
  browser = { onLine: true }
  page = new EventTarget()
  vi.stubGlobal('navigator', browser)
  vi.stubGlobal('window', page)
  stop = followNetwork()
})
afterEach(() => {
  stop()
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

function setOnline(onLine: boolean): void {
  browser.onLine = onLine
  page.dispatchEvent(new Event(onLine ? 'online' : 'offline'))
}

test('reports a lost connection after 2500 ms, until the channel is joined again', () => {
  setChannelJoined(false, CHANNEL)
  vi.advanceTimersByTime(2_499)
  expect(isLost()).toBe(false)
  vi.advanceTimersByTime(1)
  expect(isLost()).toBe(true)
  setChannelJoined(true, CHANNEL)
  expect(isLost()).toBe(false)
})

test('does not report short interruptions, however many there are', () => {
  for (let times = 0; times < 3; times += 1) {
    setChannelJoined(false, CHANNEL)
    vi.advanceTimersByTime(2_000)
    setChannelJoined(true, CHANNEL)
    vi.advanceTimersByTime(1_000)
    expect(isLost()).toBe(false)
  }
})

test('a failed reconnect does not restart the wait', () => {
  setChannelJoined(false, CHANNEL)
  vi.advanceTimersByTime(1_500)
  setChannelJoined(false, CHANNEL)
  vi.advanceTimersByTime(1_000)
  expect(isLost()).toBe(true)
})

test('reports an offline browser, and stays lost while the channel is broken', () => {
  setOnline(false)
  vi.advanceTimersByTime(2_500)
  expect(isLost()).toBe(true)
  setOnline(true)
  expect(isLost()).toBe(false)
  setChannelJoined(false, CHANNEL)
  setOnline(false)
  vi.advanceTimersByTime(2_500)
  setOnline(true)
  expect(isLost()).toBe(true)
})

test('stopping resets the state', () => {
  setChannelJoined(false, CHANNEL)
  stop()
  vi.advanceTimersByTime(5_000)
  expect(isLost()).toBe(false)
})
