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

test('owners who wait take turns, however many of one owner wait', async () => {
  const pass = createSemaphore(1)
  const order: string[] = []
  const run = (name: string) =>
    pass(
      () => {
        order.push(name)
        return Promise.resolve()
      },
      name.slice(0, 1),
    )
  await Promise.all(['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'].map(run))
  expect(order).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4'])
})
