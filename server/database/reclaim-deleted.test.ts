import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createLog } from '#server/base/log.ts'
import { createDeletedReclaim } from './reclaim-deleted.ts'

const log = createLog('silent')

function countRuns() {
  const counted = {
    runs: 0,
    run: (): Promise<void> => {
      counted.runs += 1
      return Promise.resolve()
    },
  }
  return counted
}

test('deletions one after the other lead to one run, until the pause after it is over', async () => {
  const counted = countRuns()
  const reclaim = createDeletedReclaim(counted.run, log, 3_600_000)
  for (let deletion = 0; deletion < 20; deletion += 1) {
    reclaim.request()
    await nextTurn()
  }
  expect(counted.runs).toBe(1)
  await reclaim.stop()
  expect(counted.runs).toBe(1)
})

test('what is deleted during a run or its pause is reclaimed by the next one, also after a failure', async () => {
  const counted = countRuns()
  const outcomes: (() => Promise<void>)[] = [() => Promise.reject(new Error('the disk is full'))]
  const reclaim = createDeletedReclaim(() => (outcomes.shift() ?? counted.run)(), log, 0)
  reclaim.request()
  await nextTurn()
  reclaim.request()
  await expect.poll(() => counted.runs).toBe(1)
  await reclaim.stop()
})
