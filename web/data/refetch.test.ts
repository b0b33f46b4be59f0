import { QueryObserver } from '@tanstack/react-query'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { HttpError, isUnreachable } from './client.ts'
import { createQueryClient } from './query-client.ts'
import { readRest } from './read-rest.ts'
import { refetch, refetchUnreached } from './refetch.ts'

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

test.each([
  { failure: new TypeError('Failed to fetch'), readings: 2 },
  { failure: new HttpError(503, 'Service Unavailable'), readings: 2 },
  { failure: new HttpError(500, 'Internal Server Error'), readings: 1 },
])('after $failure, a shown query was read $readings times', async ({ failure, readings }) => {
  const queryClient = createQueryClient()
  let read = 0
  const queryFn = async (): Promise<string> => {
    read += 1
    if (read === 1) throw failure
    return 'there again'
  }
  const observer = new QueryObserver(queryClient, { queryKey: KEY, queryFn })
  const failed = new Promise<void>((resolve) => void observer.subscribe(({ isError }) => isError && resolve()))
  await failed
  await refetchUnreached(queryClient)
  expect(read).toBe(readings)
  expect(queryClient.getQueryData(KEY)).toBe(readings === 2 ? 'there again' : undefined)
})

test('a read of the data service that found no server is known by its status', async () => {
  const answer = (status: number) => Promise.resolve({ data: null, error: { message: 'TypeError: Failed' }, status })
  await expect(readRest(z.null(), answer(0))).rejects.toSatisfy(isUnreachable)
  await expect(readRest(z.null(), answer(503))).rejects.toSatisfy(isUnreachable)
  await expect(readRest(z.null(), answer(403))).rejects.not.toSatisfy(isUnreachable)
})

test('a query that is being read again is not read twice', async () => {
  const readings: { resolve: (answer: string) => void; reject: (error: Error) => void }[] = []
  const queryClient = createQueryClient()
  queryClient.setQueryData(KEY, 'before')
  const queryFn = () => new Promise<string>((resolve, reject) => void readings.push({ resolve, reject }))
  const observer = new QueryObserver(queryClient, { queryKey: KEY, queryFn })
  const failed = new Promise<void>((resolve) => void observer.subscribe(({ isError }) => isError && resolve()))
  const first = queryClient.invalidateQueries({ queryKey: KEY })
  readings[0]?.reject(new TypeError('Failed to fetch'))
  await Promise.all([first, failed])
  const second = queryClient.invalidateQueries({ queryKey: KEY })
  await refetchUnreached(queryClient)
  expect(readings).toHaveLength(2)
  readings[1]?.resolve('after')
  await second
  expect(queryClient.getQueryData(KEY)).toBe('after')
})
