import { readdirSync, readFileSync } from 'node:fs'
import { constants, getPriority } from 'node:os'
import { Worker } from 'node:worker_threads'
import { expect, onTestFinished, test } from 'vitest'
import { lowerThreadPriority } from './lower-priority.ts'

const NAME = 'slow-thread'

test.runIf(process.platform === 'linux')('one thread is lowered, and the process stays as it is', async () => {
  const worker = new Worker('setInterval(() => undefined, 1000)', { eval: true, name: NAME })
  onTestFinished(async () => {
    await worker.terminate()
  })
  await new Promise((resolve) => worker.once('online', resolve))
  const before = getPriority()
  lowerThreadPriority(NAME)
  const thread = readdirSync('/proc/self/task').find(
    (id) => readFileSync(`/proc/self/task/${id}/comm`, 'utf8').trim() === NAME,
  )
  expect(getPriority(Number(thread))).toBe(Math.max(before, constants.priority.PRIORITY_BELOW_NORMAL))
  expect(getPriority()).toBe(before)
})
