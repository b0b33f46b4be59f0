import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { conversationSearchAnswer, documentSearchAnswer, searchAnswer } from '#contract/search.ts'
import { apiJson } from './client.ts'

export function messageSearchQuery(search: string) {
  return queryOptions({
    queryKey: ['/api/search', search],
    queryFn: async ({ signal }) =>
      (await apiJson(`/api/search?q=${encodeURIComponent(search)}`, searchAnswer, { signal })).messages,
    placeholderData: keepPreviousData,
    staleTime: 0,
    gcTime: 60_000,
  })
}

export function conversationSearchQuery(search: string) {
  return queryOptions({
    queryKey: ['/api/search/conversations', search],
    queryFn: async ({ signal }) => {
      const address = `/api/search/conversations?q=${encodeURIComponent(search)}`
      return (await apiJson(address, conversationSearchAnswer, { signal })).conversations
    },
    placeholderData: keepPreviousData,
    staleTime: 0,
    gcTime: 60_000,
  })
}

export function documentSearchQuery(search: string) {
  return queryOptions({
    queryKey: ['/api/search/documents', search],
    queryFn: async ({ signal }) =>
      (await apiJson(`/api/search/documents?q=${encodeURIComponent(search)}`, documentSearchAnswer, { signal }))
        .passages,
    placeholderData: keepPreviousData,
    staleTime: 0,
    gcTime: 60_000,
  })
}
