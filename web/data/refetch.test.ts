import { QueryObserver } from '@tanstack/react-query'
import { expect, test } from 'vitest'
import { createQueryClient } from './query-client.ts'
import { refetch } from './refetch.ts'

const KEY = ['/codes']

/** A query that is shown, whose readings answer when they are told to. */
function showQuery() {
  const readings: ((answer: string) => void)[] = []
  const queryClient = createQueryClient()
  const queryFn = () => new Promise<string>((resolve) => void readings.push(resolve))
  new QueryObserver(queryClient, { queryKey: KEY, queryFn }).subscribe(() => undefined)
  return { queryClient, queryFn, readings }
}

test('a first fetch from before the change does not count', async () => {
  const { queryClient, readings } = showQuery()
  const again = refetch(queryClient, { queryKey: KEY })
  readings[0]?.('before the change')
  readings[1]?.('after the change')
  await again
  expect(queryClient.getQueryData(KEY)).toBe('after the change')
})

test('a waiter of the cancelled fetch gets the new result', async () => {
  const { queryClient, queryFn, readings } = showQuery()
  const waiting = queryClient.query({ queryKey: KEY, queryFn, staleTime: 'static' })
  const again = refetch(queryClient, { queryKey: KEY })
  readings[1]?.('after the change')
  await again
  expect(await waiting).toBe('after the change')
})

test('an inactive query is only invalidated', async () => {
  const queryClient = createQueryClient()
  queryClient.setQueryData(KEY, 'before the change')
  await refetch(queryClient, { queryKey: KEY })
  expect(queryClient.getQueryState(KEY)).toMatchObject({ data: 'before the change', isInvalidated: true })
})
