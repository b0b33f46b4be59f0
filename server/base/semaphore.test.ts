import { expect, test } from 'vitest'
import { createSemaphore } from './semaphore.ts'

test('no more run at once than there are places, and a failure frees its place', async () => {
  const pass = createSemaphore(2)
  let running = 0
  let most = 0
  const done = await Promise.allSettled(
    Array.from({ length: 9 }, (_, index) =>
      pass(async () => {
        most = Math.max(most, (running += 1))
        await Promise.resolve()
        running -= 1
        if (index % 2 === 0) throw new Error(String(index))
        return index
      }),
    ),
  )
  expect(most).toBe(2)
  expect(done.map(({ status }) => status === 'fulfilled')).toEqual(done.map((_, index) => index % 2 === 1))
})
