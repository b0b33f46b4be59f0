import { expect, test } from 'vitest'
import { readTogether } from './read-together.ts'

test('ids that are asked for together are read once; those that do not exist are null', async () => {
  const reads: (readonly string[])[] = []
  const read = readTogether((ids) => {
    reads.push(ids)
    return Promise.resolve(new Map(ids.filter((id) => id !== 'gone').map((id) => [id, id.toUpperCase()])))
  })
  expect(await Promise.all([read('a'), read('gone'), read('b'), read('a')])).toEqual(['A', null, 'B', 'A'])
  expect(await read('c')).toBe('C')
  expect(reads).toEqual([['a', 'gone', 'b'], ['c']])
})

test('a failed read fails for all who asked, and not for those who ask later', async () => {
  let fails = true
  const read = readTogether(() => (fails ? Promise.reject(new Error('offline')) : Promise.resolve(new Map([['a', 1]]))))
  await expect(Promise.allSettled([read('a'), read('b')])).resolves.toMatchObject([
    { status: 'rejected' },
    { status: 'rejected' },
  ])
  fails = false
  expect(await read('a')).toBe(1)
})
