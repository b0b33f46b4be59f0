import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
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

/** Of proc(5): T where it stands still. */
async function isStopped({ pid = 0 }: ChildProcess): Promise<boolean> {
  return / T /.test((await readFile(`/proc/${pid}/stat`, 'utf8')).replace(/\(.*\)/, ''))
}

const stands = (child: ChildProcess, isStill: boolean) =>
  vi.waitFor(async () => expect(await isStopped(child)).toBe(isStill), { interval: 1 })

test('processes stand still while somebody waits, except such as might outlive us, and go on afterwards', async () => {
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
  await stands(first, false)
})

test('whoever waits long keeps them from working for a moment only, and does not hold them when others have left', async () => {
  const backgroundThrottle = createBackgroundThrottle({ processors: 2 })
  const child = startChild()
  backgroundThrottle.throttle(child, () => true)
  backgroundThrottle.beginForeground()
  await stands(child, true)
  await stands(child, false)
  const kill = vi.spyOn(child, 'kill')
  vi.useFakeTimers()
  vi.advanceTimersByTime(1_000)
  const leave = backgroundThrottle.beginForeground()
  leave()
  vi.advanceTimersByTime(5)
  expect(kill.mock.calls).toEqual([['SIGSTOP'], ['SIGCONT']])
})

test('where processors are left for the answer, nothing stands still', () => {
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

test('however many wait, half of the time is left', () => {
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
