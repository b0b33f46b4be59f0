import { fork } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { createMemoryReturn } from './return-memory.ts'

/** A process whose memory and work the test sets. */
function open() {
  const process = { resident: 100_000_000, busyMs: 0, collections: 0 }
  const endWindow = createMemoryReturn({
    readResidentBytes: () => process.resident,
    readBusyMs: () => process.busyMs,
    collect: () => {
      process.collections += 1
      process.resident = 110_000_000
    },
  })
  const pass = (windows: number, busyMs: number) => {
    for (let window = 0; window < windows; window += 1) {
      process.busyMs += busyMs
      endWindow()
    }
  }
  return { process, pass }
}

test('memory that has grown is collected after 30 quiet seconds, once', () => {
  const { process, pass } = open()
  process.resident = 300_000_000
  pass(5, 5_000)
  pass(2, 20)
  expect(process.collections).toBe(0)
  pass(1, 20)
  expect(process.collections).toBe(1)
  pass(20, 20)
  expect(process.collections).toBe(1)
})

test('nothing is collected while the process works, or for little', () => {
  const { process, pass } = open()
  process.resident = 300_000_000
  for (let round = 0; round < 5; round += 1) {
    pass(2, 20)
    pass(1, 5_000)
  }
  expect(process.collections).toBe(0)
  process.resident = 120_000_000
  pass(20, 20)
  expect(process.collections).toBe(0)
})

test('growth counts from the least memory since the last collection', () => {
  const { process, pass } = open()
  process.resident = 70_000_000
  pass(1, 20)
  process.resident = 105_000_000
  pass(3, 20)
  expect(process.collections).toBe(1)
})

test('a collection returns the pages between live objects, and leaves no function to collect with', async () => {
  const child = fork(new URL('../../test/grown-process.ts', import.meta.url), { execArgv: [] })
  const [{ grown, returned, type }] = (await once(child, 'message')) as [
    { grown: number; returned: number; type: string },
  ]
  expect(returned).toBeLessThan(grown / 2)
  expect(type).toBe('undefined')
})
