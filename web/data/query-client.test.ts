import { expect, test } from 'vitest'
import { createQueryClient } from './query-client.ts'

test('refetches nothing by itself, and retries nothing', () => {
  const { queries, mutations } = createQueryClient().getDefaultOptions()
  expect(queries).toMatchObject({
    refetchInterval: false,
    refetchOnWindowFocus: false,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  })
  expect(mutations?.retry).toBe(false)
})
