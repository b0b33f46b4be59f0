import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, expect, test, vi } from 'vitest'
import { createBackgroundThrottle } from './background-throttling.ts'

const children: ChildProcess[] = []

function startChild(): ChildProcess {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1)'])
  children.push(child)
  return child
}

afterEach(async () => {
  vi.useRealTimers()
  vi.restoreAllMocks()
  for (const child of children.splice(0)) {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
})

/** T is the state of a stopped process, proc(5). */
async function isStopped({ pid = 0 }: ChildProcess): Promise<boolean> {
  return / T /.test((await readFile(`/proc/${pid}/stat`, 'utf8')).replace(/\(.*\)/, ''))
}

async function stands(child: ChildProcess, isStill: boolean): Promise<void> {
  while ((await isStopped(child)) !== isStill) await delay(1)
}

/** Virtual time: a process needs real time to enter the stopped state. */
function controlTime(): (ms: number) => void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  let now = 0
  vi.spyOn(performance, 'now').mockImplementation(() => now)
  return (ms) => {
    now += ms
    vi.advanceTimersByTime(ms)
  }
}

test('processes are paused during foreground work, except those that may outlive us, and resume afterwards', async () => {
  const pass = controlTime()
  const backgroundThrottle = createBackgroundThrottle({ processors: 2 })
  const [first, second] = [startChild(), startChild()]
  backgroundThrottle.throttle(first, () => true)
  backgroundThrottle.throttle(second, () => false)
  const [leave, leaveToo] = [backgroundThrottle.beginForeground(), backgroundThrottle.beginForeground()]
  await stands(first, true)
  await stands(second, false)
  leave()
  leave()
  leaveToo()
  pass(5)
  await stands(first, false)
})

test('long foreground work pauses them only for a moment, and not again when other foreground work ends', async () => {
  const pass = controlTime()
  const backgroundThrottle = createBackgroundThrottle({ processors: 2 })
  const child = startChild()
  backgroundThrottle.throttle(child, () => true)
  backgroundThrottle.beginForeground()
  await stands(child, true)
  pass(60)
  await stands(child, false)
  const kill = vi.spyOn(child, 'kill')
  pass(1_000)
  const leave = backgroundThrottle.beginForeground()
  leave()
  pass(5)
  expect(kill.mock.calls).toEqual([['SIGSTOP'], ['SIGCONT']])
})

test('a resumption that is overdue, because the event loop was busy, is set to now and not to the past', () => {
  const pass = controlTime()
  const backgroundThrottle = createBackgroundThrottle({ processors: 2 })
  backgroundThrottle.throttle(startChild(), () => true)
  const leave = backgroundThrottle.beginForeground()
  const timers = vi.spyOn(globalThis, 'setTimeout')
  const stopTimers = vi.spyOn(performance, 'now').mockImplementation(() => 1_000)
  backgroundThrottle.beginForeground()()
  leave()
  const delays = timers.mock.calls.map(([, delayMs]) => delayMs)
  stopTimers.mockRestore()
  expect(delays.length).toBeGreaterThan(0)
  expect(Math.min(...delays.map(Number))).toBe(0)
  pass(1)
})

test('nothing is paused while enough processors are free', () => {
  const backgroundThrottle = createBackgroundThrottle({ processors: 4 })
  const [first, second, third] = [startChild(), startChild(), startChild()]
  const killed = [first, second, third].map((child) => vi.spyOn(child, 'kill'))
  backgroundThrottle.throttle(first, () => true)
  backgroundThrottle.throttle(second, () => true)
  backgroundThrottle.beginForeground()()
  expect(killed.map(({ mock }) => mock.calls)).toEqual([[], [], []])
  backgroundThrottle.throttle(third, () => true)
  backgroundThrottle.beginForeground()()
  expect(killed.map(({ mock }) => mock.calls)).toEqual([[['SIGSTOP']], [['SIGSTOP']], [['SIGSTOP']]])
})

test('background work keeps half of the time, however much foreground work there is', () => {
  vi.useFakeTimers()
  const backgroundThrottle = createBackgroundThrottle({ processors: 2 })
  const child = startChild()
  backgroundThrottle.throttle(child, () => true)
  let [stillMs, stoppedAt] = [0, 0]
  const kill = child.kill.bind(child)
  vi.spyOn(child, 'kill').mockImplementation((signal) => {
    if (signal === 'SIGSTOP') stoppedAt = performance.now()
    else stillMs += performance.now() - stoppedAt
    return kill(signal)
  })
  for (let ms = 0; ms < 10_000; ms += 3) {
    backgroundThrottle.beginForeground()
    vi.advanceTimersByTime(3)
  }
  expect(stillMs / 10_000).toBeGreaterThan(0.4)
  expect(stillMs / 10_000).toBeLessThan(0.52)
})
