import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { documentSearchAnswer, searchAnswer } from '#contract/search.ts'
import { apiJson } from './client.ts'

/** Messages that hold all the words, newest first; the ones of the search before are kept until they are there. */
export function messageSearchQuery(search: string) {
  return queryOptions({
    queryKey: ['/api/search', search],
    queryFn: async ({ signal }) =>
      (await apiJson(`/api/search?q=${encodeURIComponent(search)}`, searchAnswer, { signal })).messages,
    placeholderData: keepPreviousData,
    // What has been said since is found as well.
    staleTime: 0,
    gcTime: 60_000,
  })
}

/** The best passage of each document that holds words of the search; the ones of the search before are kept meanwhile. */
export function documentSearchQuery(search: string) {
  return queryOptions({
    queryKey: ['/api/search/documents', search],
    queryFn: async ({ signal }) =>
      (await apiJson(`/api/search/documents?q=${encodeURIComponent(search)}`, documentSearchAnswer, { signal }))
        .passages,
    placeholderData: keepPreviousData,
    // What has been read since is found as well.
    staleTime: 0,
    gcTime: 60_000,
  })
}
