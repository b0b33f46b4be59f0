import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { followNetwork, setChannelJoined, useConnection } from './connection.ts'

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

test('a break is said after 2500 ms, and no longer once the channel is joined again', () => {
  setChannelJoined(false)
  vi.advanceTimersByTime(2_499)
  expect(isLost()).toBe(false)
  vi.advanceTimersByTime(1)
  expect(isLost()).toBe(true)
  setChannelJoined(true)
  expect(isLost()).toBe(false)
})

test('breaks of a moment are not said, however many there are', () => {
  for (let times = 0; times < 3; times += 1) {
    setChannelJoined(false)
    vi.advanceTimersByTime(2_000)
    setChannelJoined(true)
    vi.advanceTimersByTime(1_000)
    expect(isLost()).toBe(false)
  }
})

test('each further try that fails does not begin the time anew', () => {
  setChannelJoined(false)
  vi.advanceTimersByTime(1_500)
  setChannelJoined(false)
  vi.advanceTimersByTime(1_000)
  expect(isLost()).toBe(true)
})

test('a browser without a network has lost it too, and its return is not enough where the channel is broken', () => {
  setOnline(false)
  vi.advanceTimersByTime(2_500)
  expect(isLost()).toBe(true)
  setOnline(true)
  expect(isLost()).toBe(false)
  setChannelJoined(false)
  setOnline(false)
  vi.advanceTimersByTime(2_500)
  setOnline(true)
  expect(isLost()).toBe(true)
})

test('whoever stops following leaves nothing behind', () => {
  setChannelJoined(false)
  stop()
  vi.advanceTimersByTime(5_000)
  expect(isLost()).toBe(false)
})
