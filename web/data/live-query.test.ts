import { QueryClient } from '@tanstack/react-query'
import { expect, test } from 'vitest'
import { createLiveQuery } from './live-query.ts'

const KEY = ['rows']

test('a change during a fetch applies to the fetched list', async () => {
  const client = new QueryClient()
  const rows = createLiveQuery<string[]>()
  const { promise: answer, resolve } = Promise.withResolvers<string[]>()
  const reading = rows.read(KEY, () => answer)
  rows.change(client, KEY, (list) => list.map((row) => row.replace('reading', 'ready')))
  rows.change(client, KEY, (list) => [...list, 'new'])
  rows.change(client, ['other rows'], () => [])
  resolve(['a reading'])
  expect(await reading).toEqual(['a ready', 'new'])
  expect(await rows.read(KEY, () => Promise.resolve(['a reading']))).toEqual(['a reading'])
})

test('a change reaches a loaded list, and creates no list', () => {
  const client = new QueryClient()
  const rows = createLiveQuery<string[]>()
  rows.change(client, KEY, (list) => [...list, 'b'])
  expect(client.getQueryData(KEY)).toBeUndefined()
  client.setQueryData(KEY, ['a'])
  rows.change(client, KEY, (list) => [...list, 'b'])
  expect(client.getQueryData(KEY)).toEqual(['a', 'b'])
})

test('a row deleted during a fetch stays deleted', async () => {
  const client = new QueryClient()
  const row = createLiveQuery<string | null>()
  const { promise: answer, resolve } = Promise.withResolvers<string>()
  const reading = row.read(KEY, () => answer)
  row.change(client, KEY, (known) => known && `${known}, renamed`)
  row.change(client, KEY, () => null)
  resolve('a row')
  expect(await reading).toBeNull()
  client.setQueryData(KEY, null)
  row.change(client, KEY, (known) => known && `${known}, renamed`)
  expect(client.getQueryData(KEY)).toBeNull()
})

test('set data replaces the result of a fetch, and needs no loaded data', async () => {
  const client = new QueryClient()
  const row = createLiveQuery<string | null>()
  const { promise: answer, resolve } = Promise.withResolvers<string | null>()
  const reading = row.read(KEY, () => answer)
  row.set(client, KEY, 'new')
  expect(client.getQueryData(KEY)).toBe('new')
  resolve(null)
  expect(await reading).toBe('new')
})
