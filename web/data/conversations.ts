import { queryOptions, type QueryClient } from '@tanstack/react-query'
import { z } from 'zod'
import {
  conversationRow,
  listedConversation,
  type ConversationPatch,
  type ConversationRow,
  type ListedConversation,
} from '#contract/conversation.ts'
import { DEFAULT_TITLES } from '#contract/product-names.ts'
import { MAX_SEARCH_LENGTH } from '#contract/search.ts'
import { branchOriginId, listTitle, matchesSearch } from '#web/lib/messages/conversation-labels.ts'
import { serverTime } from './auth/session.ts'
import {
  apiFetch,
  apiSend,
  HttpError,
  eitherSignal,
  nullIfNotFound,
  readJson,
  rest,
  restWithApiFallback,
} from './client.ts'
import { inSpace, type Space } from './current-space.ts'
import { storeDraft } from './drafts.ts'
import { createLiveQuery } from './live-query.ts'
import { untilMomentKnown } from './live/missed-changes.ts'
import { cachedModelLabel } from './models.ts'
import { createPagedList } from './paged-list.ts'
import { deleteRecordings } from './recordings.ts'
import { refetch } from './refetch.ts'

const listedRows = z.array(listedConversation)
const LISTED_COLUMNS =
  'id,uid,title,model_name,started_at,pinned,space_id,is_shared,branched_from:metadata->>branched_from'
const PAGE_SIZE = 50
const NEXT_PAGE_SIZE = 200
const MAX_PAGE_SIZE = 1000

export const conversationKey = (id: string) => [`/api/conversations/${id}`] as const
const liveConversation = createLiveQuery<ConversationRow | null>()
const listKey = ['/api/users/{id}/conversations'] as const

interface ConversationListView {
  readonly userId: string
  readonly space: Space
  /** A part of the title or of the model's name, ignoring case; empty: all. */
  readonly search: string
}

/** The conversations of a person, in a space also those that are shared there: the pinned ones first, then newest first. */
export const conversationList = createPagedList<ListedConversation, ConversationListView>({
  pageSize: PAGE_SIZE,
  nextPageSize: NEXT_PAGE_SIZE,
  maxPageSize: MAX_PAGE_SIZE,
  prefix: listKey,
  describe: ({ userId, space, search }, queryClient) => ({
    compare: comparePinnedFirst,
    includes: (row) =>
      (row.space_id ?? null) === space &&
      (row.uid === userId || row.is_shared === true) &&
      matchesSearch([listTitle(row), cachedModelLabel(queryClient, row.model_name)], search),
    read: (last, limit, signal) => readListed({ userId, space, search }, last, limit, signal),
  }),
})

async function readListed(
  { userId, space, search }: ConversationListView,
  last: ListedConversation | undefined,
  limit: number,
  signal: AbortSignal | undefined,
): Promise<ListedConversation[]> {
  await untilMomentKnown(signal)
  const parameters = new URLSearchParams({ listed: 'true', limit: `${limit}`, ...inSpace(space) })
  if (search !== '') parameters.set('search', search.slice(0, MAX_SEARCH_LENGTH))
  if (last !== undefined) parameters.set('after', last.id)
  const fromApi = (limit?: AbortSignal) =>
    readJson(apiFetch(`/api/users/${userId}/conversations?${parameters}`, { signal: eitherSignal(signal, limit) }))
  // The data service cannot compare the names of models.
  if (search !== '') return listedRows.parse(await fromApi())
  return restWithApiFallback(
    listedRows,
    () => {
      const listed = rest().from('conversations').select(LISTED_COLUMNS)
      const all = space === null ? listed.eq('uid', userId).is('space_id', null) : listed.eq('space_id', space)
      const following = last === undefined ? all : all.or(orderedAfter(last))
      return following
        .order('pinned', { ascending: false })
        .order('started_at', { ascending: false })
        .order('id')
        .limit(limit)
    },
    fromApi,
  )
}

/** The filter of the data service for rows that the list has after this one. */
function orderedAfter({ id, pinned, started_at: startedAt }: ListedConversation): string {
  const later = `and(pinned.is.${pinned},started_at.lt."${startedAt}"),and(pinned.is.${pinned},started_at.eq."${startedAt}",id.gt.${id})`
  return pinned ? `pinned.is.false,${later}` : later
}

function comparePinnedFirst(one: ListedConversation, other: ListedConversation): number {
  return (
    Number(other.pinned) - Number(one.pinned) ||
    Date.parse(other.started_at) - Date.parse(one.started_at) ||
    (one.id < other.id ? -1 : 1)
  )
}

const toListed = (row: ConversationRow): ListedConversation =>
  listedConversation.parse({ ...row, branched_from: branchOriginId(row) })

/** The loaded row of a list, while the whole conversation is not read. */
export function findListed(
  queryClient: QueryClient,
  view: Omit<ConversationListView, 'search'>,
  id: string,
): ListedConversation | undefined {
  return queryClient
    .getQueryData(conversationList.query({ ...view, search: '' }).queryKey)
    ?.rows.find((row) => row.id === id)
}

/** One conversation; null if it does not exist, or if the person may not read it. */
export function conversationQuery(id: string) {
  return queryOptions({
    queryKey: conversationKey(id),
    queryFn: () => liveConversation.read(conversationKey(id), () => fetchConversation(id)),
  })
}

async function fetchConversation(id: string): Promise<ConversationRow | null> {
  await untilMomentKnown()
  return restWithApiFallback(
    conversationRow.nullable(),
    () => rest().from('conversations').select('*').eq('id', id).maybeSingle(),
    (signal) => nullIfNotFound(() => readJson(apiFetch(`/api/conversations/${id}`, { signal }))),
  )
}

/** The client chooses the id: after a timeout of the direct call, the fallback addresses the same row. */
export function createConversation(given: {
  id?: string
  userId: string
  space: Space
  modelName: string
  title?: string
  metadata?: Record<string, unknown>
}): Promise<ConversationRow> {
  const row = {
    id: given.id ?? crypto.randomUUID(),
    uid: given.userId,
    title: given.title ?? DEFAULT_TITLES.created,
    model_name: given.modelName,
    started_at: serverTime(),
    ended_at: null,
    metadata: given.metadata ?? {},
    ...(given.space === null ? {} : { space_id: given.space }),
  }
  return restWithApiFallback(
    conversationRow,
    () => rest().from('conversations').insert(row).select().single(),
    async (signal) => {
      try {
        return await readJson(apiSend('POST', '/api/conversations', row, signal))
      } catch (error) {
        if (error instanceof HttpError && error.status === 409) return fetchConversation(row.id)
        throw error
      }
    },
  )
}

export function updateConversation(id: string, userId: string, patch: ConversationPatch): Promise<ConversationRow> {
  return restWithApiFallback(
    conversationRow,
    () => rest().from('conversations').update(patch).eq('id', id).eq('uid', userId).select().single(),
    (signal) => readJson(apiSend('PATCH', `/api/conversations/${id}`, patch, signal)),
  )
}

/** Conversations that the person deleted in this tab; the change may be delivered before the answer. */
const deletedHere = new Set<string>()

export async function deleteConversation(id: string): Promise<void> {
  deletedHere.add(id)
  try {
    await restWithApiFallback(
      z.unknown(),
      () => rest().from('conversations').delete().eq('id', id),
      async (signal) => {
        await apiFetch(`/api/conversations/${id}`, { method: 'DELETE', signal })
        return null
      },
    )
  } catch (error) {
    deletedHere.delete(id)
    throw error
  }
}

export function cacheConversation(queryClient: QueryClient, row: ConversationRow): void {
  liveConversation.set(queryClient, conversationKey(row.id), row)
  conversationList.put(queryClient, toListed(row))
}

export const refetchConversationLists = (queryClient: QueryClient): Promise<void> =>
  refetch(queryClient, { queryKey: listKey })

/** Refetches the lists and the open conversations, after live changes may have been missed. */
export async function refetchConversations(queryClient: QueryClient): Promise<void> {
  const [list] = listKey
  const [one] = conversationKey('')
  await refetch(queryClient, {
    predicate: ({ queryKey: [key] }) =>
      key === list || (typeof key === 'string' && key.startsWith(one) && !key.slice(one.length).includes('/')),
  })
}

/** Removes its draft and recordings too, unless it was deleted elsewhere while it is open here: the page then moves them. */
export function removeCachedConversation(queryClient: QueryClient, userId: string, id: string): void {
  const isOpen =
    queryClient
      .getQueryCache()
      .find({ queryKey: conversationKey(id) })
      ?.isActive() ?? false
  if (deletedHere.has(id) || !isOpen) {
    storeDraft(userId, id, '')
    deleteRecordings(userId, id)
  }
  leaveConversation(queryClient, id)
}

/** For a conversation that is out of reach: what the person has typed there stays. */
export function leaveConversation(queryClient: QueryClient, id: string): void {
  conversationList.remove(queryClient, id)
  // Null, as for an unknown conversation: the chat page then leaves it.
  liveConversation.set(queryClient, conversationKey(id), null)
}
