import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, onTestFinished, test, vi } from 'vitest'
import { anonymousKib, childrenOf, peakKib, residentKib } from './process-memory.ts'

test('a process that has ended, and that nothing has waited for yet, has no memory', async () => {
  // The shell becomes a program that never waits for the first command.
  const parent = spawn('sh', ['-c', 'true & exec sleep 60'])
  await once(parent, 'spawn')
  onTestFinished(() => void parent.kill())
  const pid = parent.pid ?? 0
  expect(await peakKib(pid)).toBeGreaterThan(0)
  await vi.waitFor(async () => {
    const [ended = 0] = await childrenOf(pid)
    expect([await peakKib(ended), await residentKib(ended), await anonymousKib(ended)]).toEqual([0, 0, 0])
  })
})
