import { expect, test } from 'vitest'
import { createQueryClient } from './query-client.ts'

test('nothing is read again by itself, and nothing is tried twice', () => {
  const { queries, mutations } = createQueryClient().getDefaultOptions()
  expect(queries).toMatchObject({
    refetchInterval: false,
    refetchOnWindowFocus: false,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  })
  expect(mutations?.retry).toBe(false)
})
