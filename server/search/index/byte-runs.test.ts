import fc from 'fast-check'
import { expect, test } from 'vitest'
import { eachRun, joinRuns } from './byte-runs.ts'

test('runs come back as they were, empty ones included', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array()), (runs) => {
      expect([...eachRun(joinRuns(runs))].map((run) => [...run])).toEqual(runs.map((run) => [...run]))
    }),
  )
})

test('a view into a larger buffer yields only its own bytes', () => {
  const whole = Uint8Array.from([1, 2, 3, 4, 5])
  expect([...joinRuns([whole.subarray(1, 3), whole.subarray(4)]).bytes]).toEqual([2, 3, 5])
})
