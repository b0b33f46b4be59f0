import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { conversationSearchAnswer, documentSearchAnswer, searchAnswer } from '#contract/search.ts'
import { apiJson } from './client.ts'
import { placeParameter, type SearchPlace } from './current-space.ts'

const searchAddress = (path: string, search: string, place: SearchPlace): string =>
  `${path}?q=${encodeURIComponent(search)}${placeParameter(place)}`

export function messageSearchQuery(search: string, place: SearchPlace) {
  return queryOptions({
    queryKey: ['/api/search', search, place],
    queryFn: async ({ signal }) =>
      (await apiJson(searchAddress('/api/search', search, place), searchAnswer, { signal })).messages,
    placeholderData: keepPreviousData,
    staleTime: 0,
    gcTime: 60_000,
  })
}

export function conversationSearchQuery(search: string, place: SearchPlace) {
  return queryOptions({
    queryKey: ['/api/search/conversations', search, place],
    queryFn: async ({ signal }) => {
      const address = searchAddress('/api/search/conversations', search, place)
      return (await apiJson(address, conversationSearchAnswer, { signal })).conversations
    },
    placeholderData: keepPreviousData,
    staleTime: 0,
    gcTime: 60_000,
  })
}

export function documentSearchQuery(search: string, place: SearchPlace) {
  return queryOptions({
    queryKey: ['/api/search/documents', search, place],
    queryFn: async ({ signal }) =>
      (await apiJson(searchAddress('/api/search/documents', search, place), documentSearchAnswer, { signal })).passages,
    placeholderData: keepPreviousData,
    staleTime: 0,
    gcTime: 60_000,
  })
}
