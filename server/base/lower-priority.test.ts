import { execFileSync } from 'node:child_process'
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

test.runIf(process.platform === 'linux')('all threads of a process are lowered, those of file access too', () => {
  const program = `
    import { readdirSync } from 'node:fs'
    import { readFile } from 'node:fs/promises'
    import { getPriority } from 'node:os'
    import { lowerOwnPriority } from ${JSON.stringify(new URL('lower-priority.ts', import.meta.url).href)}
    // Starts the threads of file access.
    await readFile('/proc/self/status')
    lowerOwnPriority()
    console.log(JSON.stringify(readdirSync('/proc/self/task').map((id) => getPriority(Number(id)))))`
  const output = execFileSync(process.execPath, ['--input-type=module', '--eval', program], { encoding: 'utf8' })
  const lowered = Math.max(getPriority(), constants.priority.PRIORITY_BELOW_NORMAL)
  const priorities = JSON.parse(output) as number[]
  expect(priorities.length).toBeGreaterThan(4)
  expect(new Set(priorities)).toEqual(new Set([lowered]))
})
