/** A passage of one page of the open document, `[start, end)` in UTF-16 code units of that page's text. */
export type MarkedPassage = { page: number; start: number; end: number }

/** A source of an answer, by its citation number. */
export type CitedSource = { messageId: string; n: number }

/**
 * `/?space={id}&chat={id}&doc={id}&page={n}&mark={page}.{start}.{end}&source={message}.{n}`; `page` follows the
 * scrolling.
 */
export type RouteState = {
  /** Null: personal. */
  spaceId: string | null
  chatId: string | null
  documentId: string | null
  page: number
  passage: MarkedPassage | null
  source: CitedSource | null
}

export const NO_DOCUMENT = { documentId: null, page: 1, passage: null, source: null } as const

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

const parseId = (value: string | null | undefined): string | null =>
  value !== null && value !== undefined && UUID.test(value) ? value : null

function parsePositiveInteger(value: string | null | undefined): number | null {
  const count = Number(value)
  return Number.isSafeInteger(count) && count > 0 ? count : null
}

function parsePassage(value: string | null): MarkedPassage | null {
  const [, page, start, end] = /^(\d+)\.(\d+)\.(\d+)$/.exec(value ?? '') ?? []
  const passage = { page: parsePositiveInteger(page) ?? 0, start: Number(start), end: parsePositiveInteger(end) ?? 0 }
  return passage.page > 0 && passage.start < passage.end ? passage : null
}

function parseSource(value: string | null): CitedSource | null {
  const [, message, number] = /^([^.]+)\.(\d+)$/.exec(value ?? '') ?? []
  const messageId = parseId(message)
  const n = parsePositiveInteger(number)
  return messageId === null || n === null ? null : { messageId, n }
}

/** Parses the address; invalid values are ignored. */
export function parseRouteState(search: string): RouteState {
  const params = new URLSearchParams(search)
  const spaceId = parseId(params.get('space'))
  const chatId = parseId(params.get('chat'))
  const documentId = parseId(params.get('doc'))
  if (documentId === null) return { spaceId, chatId, ...NO_DOCUMENT }
  const passage = parsePassage(params.get('mark'))
  return {
    spaceId,
    chatId,
    documentId,
    page: parsePositiveInteger(params.get('page')) ?? 1,
    passage,
    source: passage && parseSource(params.get('source')),
  }
}

export const hasInvalidConversationId = (search: string): boolean =>
  new URLSearchParams(search).has('chat') && parseRouteState(search).chatId === null

export function formatRoute({ spaceId, chatId, documentId, page, passage, source }: RouteState): string {
  const params = new URLSearchParams()
  if (spaceId !== null) params.set('space', spaceId)
  if (chatId !== null) params.set('chat', chatId)
  if (documentId !== null) {
    params.set('doc', documentId)
    params.set('page', String(page))
    if (passage !== null) params.set('mark', `${passage.page}.${passage.start}.${passage.end}`)
    if (passage !== null && source !== null) params.set('source', `${source.messageId}.${source.n}`)
  }
  const search = params.toString()
  return search === '' ? '/' : `/?${search}`
}
