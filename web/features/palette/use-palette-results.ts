import { useQueries, useQuery } from '@tanstack/react-query'
import type { ListedConversation } from '#contract/conversation.ts'
import { nameWithFolder, type DocumentRow } from '#contract/document.ts'
import type { FoundMessage, FoundPassage } from '#contract/search.ts'
import { conversationList } from '#web/data/conversations.ts'
import { useSpace } from '#web/data/current-space.ts'
import { documentMatchesQuery, documentQuery } from '#web/data/documents/document-queries.ts'
import { conversationSearchQuery, documentSearchQuery, messageSearchQuery } from '#web/data/search.ts'
import { sortByMatch } from '#web/lib/match-words.ts'
import { listTitle } from '#web/lib/messages/conversation-labels.ts'
import type { PaletteAction } from './palette-action.ts'
import { useDebouncedValue } from './use-debounced-value.ts'

const MOST_OF_A_KIND = 6
const RECENT = 5
const QUIET_MS = 100

export type FoundDocument = { document: DocumentRow; passage: FoundPassage | undefined }

/** Documents matched by name, then those matched by content, best first. */
function joinDocuments(
  holding: readonly DocumentRow[],
  named: readonly DocumentRow[],
  passages: readonly FoundPassage[],
): FoundDocument[] {
  const passageOf = (id: string): FoundPassage | undefined => passages.find(({ document_id }) => document_id === id)
  const isNamed = new Set(named.map(({ id }) => id))
  return [...named, ...holding.filter(({ id }) => !isNamed.has(id))]
    .slice(0, MOST_OF_A_KIND)
    .map((document) => ({ document, passage: passageOf(document.id) }))
}

const newestFirst = (rows: readonly ListedConversation[]): ListedConversation[] =>
  rows.toSorted((one, other) => Date.parse(other.started_at) - Date.parse(one.started_at))

export type Findings = {
  wanted: string
  found: {
    actions: readonly PaletteAction[]
    conversations: readonly ListedConversation[]
    documents: readonly FoundDocument[]
    messages: readonly FoundMessage[]
  }
  count: number
  isSearching: boolean
  /** A sentence per failed search. */
  failed: readonly string[]
}

export type PaletteSearch = {
  open: boolean
  userId: string
  actions: readonly PaletteAction[]
  /** All spaces and what is personal are searched, instead of the space that the page shows. */
  isEverywhere: boolean
}

/** Results for the search; without one, the actions and the newest conversations. */
export function usePaletteResults(search: string, { open, userId, actions, isEverywhere }: PaletteSearch): Findings {
  const wanted = search.trim()
  const settled = useDebouncedValue(wanted, QUIET_MS)
  const space = useSpace()
  const place = isEverywhere ? undefined : space
  const recent = useQuery(conversationList.query({ userId, space, search: '' }))
  // Names are found within a frame; texts wait until the person pauses.
  const conversations = useQuery({ ...conversationSearchQuery(wanted, place), enabled: open && wanted !== '' })
  const matches = useQuery({ ...documentMatchesQuery(wanted, place), enabled: open && wanted !== '' })
  const messages = useQuery({ ...messageSearchQuery(settled, place), enabled: open && settled !== '' })
  const passages = useQuery({ ...documentSearchQuery(settled, place), enabled: open && settled.length > 1 })
  const holding = useQueries({
    queries: (passages.data ?? []).map(({ document_id: id }) => documentQuery(id)),
    combine: (results) => results.flatMap(({ data }) => data ?? []),
  })

  const fits = <T>(entries: readonly T[] | undefined, textOf: (entry: T) => string): T[] =>
    sortByMatch(entries ?? [], textOf, wanted)
  const named = fits(matches.data, nameWithFolder).slice(0, MOST_OF_A_KIND)
  const found =
    wanted === ''
      ? {
          actions: actions.filter(({ rare }) => rare !== true),
          conversations: newestFirst(recent.data?.rows ?? []).slice(0, RECENT),
          documents: [],
          messages: [],
        }
      : {
          actions: fits(actions, ({ label, keywords = '' }) => `${label} ${keywords}`).slice(0, MOST_OF_A_KIND),
          conversations: fits(conversations.data, listTitle).slice(0, MOST_OF_A_KIND),
          documents: joinDocuments(
            wanted.length > 1 ? holding : [],
            named,
            wanted.length > 1 ? (passages.data ?? []) : [],
          ),
          messages: messages.data ?? [],
        }
  const failed = [
    ...(conversations.isError ? ['Conversations could not be searched.'] : []),
    ...(messages.isError ? ['Messages could not be searched.'] : []),
    ...(passages.isError ? ['The texts of documents could not be searched.'] : []),
  ]
  return {
    wanted,
    found,
    count: Object.values(found).reduce((sum, entries) => sum + entries.length, 0),
    isSearching:
      wanted !== '' &&
      (wanted !== settled || [conversations, messages, passages, matches].some(({ isFetching }) => isFetching)),
    failed: wanted === '' ? [] : failed,
  }
}
