import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { isRunning, startOfProcess } from '#server/base/process-state.ts'
import { spawnUnreaped, waitForZombie } from '#test/unreaped-process.ts'

/** Number of the system call exit(2), which ends one thread. */
const EXIT = { x64: 60, arm64: 93 }[process.arch as string]
const hasThreads = EXIT !== undefined && spawnSync('perl', ['-Mthreads', '-e', '1']).status === 0
const isLinux = process.platform === 'linux'

test('a running process is running, and its start stays the same', async () => {
  expect(await isRunning(process.pid)).toBe(true)
  const startedAt = await startOfProcess(process.pid)
  if (isLinux) expect(startedAt).toMatch(/^\d+$/)
  expect(await startOfProcess(process.pid)).toBe(startedAt)
})

test('a process that has ended is not running', async () => {
  const child = spawn('true')
  await once(child, 'close')
  expect(await isRunning(child.pid ?? 0)).toBe(false)
  expect(await startOfProcess(child.pid ?? 0)).toBeUndefined()
})

test.runIf(isLinux)('a killed process that its parent has not reaped is not running', async () => {
  const { pid, endParent } = await spawnUnreaped('sleep 60')
  onTestFinished(endParent)
  expect(await isRunning(pid)).toBe(true)
  process.kill(pid, 'SIGKILL')
  await waitForZombie(pid)
  expect(() => process.kill(pid, 0)).not.toThrow()
  expect(await isRunning(pid)).toBe(false)
  expect(await startOfProcess(pid)).toBeUndefined()
})

test.runIf(isLinux && hasThreads)('a process whose first thread has ended before another one is running', async () => {
  const { pid, endParent } = await spawnUnreaped(
    `perl -Mthreads -e 'threads->create(sub { sleep 60 }); syscall(${EXIT}, 0)'`,
  )
  onTestFinished(endParent)
  await waitForZombie(pid)
  expect(await isRunning(pid)).toBe(true)
  process.kill(pid, 'SIGKILL')
  while (await isRunning(pid)) await delay(5)
})
