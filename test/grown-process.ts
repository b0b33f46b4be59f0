/** Fills pages of memory, of which a few objects remain, and tells its parent how much of it is returned. */
import { createMemoryReturn } from '#server/base/return-memory.ts'

const OBJECTS = 1_500_000
const LEFT_EVERY = 40
const QUIET_WINDOWS = 3

const endWindow = createMemoryReturn()

function fill(): object[] {
  const all = Array.from({ length: OBJECTS }, (_, index) => ({ index, text: `x${index}`, list: [index] }))
  return all.filter(({ index }) => index % LEFT_EVERY === 0)
}

const left = fill()
const before = process.memoryUsage.rss()
// The first window holds the filling itself.
for (let window = 0; window <= QUIET_WINDOWS; window += 1) endWindow()
const answer = { grown: before, returned: process.memoryUsage.rss(), type: typeof Reflect.get(globalThis, 'gc') }
process.send?.({ ...answer, left: left.length }, undefined, undefined, () => process.exit())
