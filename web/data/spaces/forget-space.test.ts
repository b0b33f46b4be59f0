import { QueryClient, QueryObserver } from '@tanstack/react-query'
import { expect, test } from 'vitest'
import { forgetSpace } from './forget-space.ts'

const [SPACE, OTHER, CONVERSATION, DOCUMENT, PERSONAL] = [1, 2, 3, 4, 5].map(
  (n) => `0000000${n}-0000-4000-8000-000000000000`,
) as [string, string, string, string, string]

test('nothing of a space stays in the cache, whatever it is cached by', () => {
  const queryClient = new QueryClient()
  const cached: readonly (readonly [readonly unknown[], unknown])[] = [
    [['space_people', SPACE], []],
    [['/api/documents', { space: SPACE }], []],
    [[`/api/conversations/${CONVERSATION}`], { id: CONVERSATION, space_id: SPACE, title: 'Tides' }],
    [[`/api/conversations/${CONVERSATION}/messages`], { messages: [{ id: 'm', content: 'The tide rose.' }] }],
    [['/api/documents', DOCUMENT], { id: DOCUMENT, space_id: SPACE }],
    [[`/api/documents/${DOCUMENT}/pages/1`], { text: 'A page.' }],
    [['/api/search', 'tide'], [{ document_id: DOCUMENT, text: 'The tide.' }]],
  ]
  const stays: typeof cached = [
    [['spaces'], [{ id: OTHER }]],
    [[`/api/conversations/${PERSONAL}`], { id: PERSONAL, space_id: null }],
    [[`/api/conversations/${PERSONAL}/messages`], { messages: [] }],
    [['/api/documents', OTHER], { id: OTHER, space_id: OTHER }],
  ]
  for (const [key, data] of [...cached, ...stays]) queryClient.setQueryData(key, data)
  forgetSpace(queryClient, SPACE)
  for (const [key] of cached) expect(queryClient.getQueryState(key), JSON.stringify(key)).toBeUndefined()
  for (const [key, data] of stays) expect(queryClient.getQueryData(key)).toEqual(data)
})

test('a list that is shown is empty at once, and is read again', async () => {
  const queryClient = new QueryClient()
  const key = ['/api/search', 'tide']
  queryClient.setQueryData(key, [{ id: DOCUMENT, space_id: SPACE }])
  const shown = new QueryObserver(queryClient, {
    queryKey: key,
    queryFn: () => Promise.resolve([]),
    staleTime: Number.POSITIVE_INFINITY,
  })
  const end = shown.subscribe(() => undefined)
  forgetSpace(queryClient, SPACE)
  expect(queryClient.getQueryData(key)).toBeUndefined()
  await expect.poll(() => queryClient.getQueryData(key)).toEqual([])
  end()
})
