import { expect, test } from 'vitest'
import { gather } from './gather.ts'

test('what arrives during a call shares the next one, and each gets its own result', async () => {
  const calls: number[][] = []
  const first = Promise.withResolvers<undefined>()
  const double = gather(async (items: readonly number[]) => {
    calls.push([...items])
    if (calls.length === 1) await first.promise
    return items.map((item) => 2 * item)
  })
  const results = [1, 2, 3].map(double)
  first.resolve(undefined)
  expect(await Promise.all(results)).toEqual([2, 4, 6])
  expect(calls).toEqual([[1], [2, 3]])
  expect(await double(4)).toBe(8)
})

test('a failure belongs to the items of its call alone', async () => {
  const run = gather((items: readonly string[]) =>
    items.includes('bad') ? Promise.reject(new Error('refused')) : Promise.resolve(items),
  )
  const [first, bad, other] = [run('first'), run('bad'), run('other')]
  expect(await first).toBe('first')
  await expect(bad).rejects.toThrow('refused')
  await expect(other).rejects.toThrow('refused')
  expect(await run('later')).toBe('later')
})
