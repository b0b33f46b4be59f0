import type { ConversationRow } from '#contract/conversation.ts'
import { DEFAULT_MODEL_LABEL, DEFAULT_TITLES } from '#contract/product-names.ts'
import { SENDER_ROLES } from '#contract/sender-roles.ts'
import type { MessageSource } from '#contract/source.ts'

type Titled = Pick<ConversationRow, 'title'>

const nonBlank = (text: string | null | undefined): string | null =>
  text === null || text === undefined || text.trim() === '' ? null : text

export const listTitle = ({ title }: Titled): string => nonBlank(title) ?? DEFAULT_TITLES.listed

export const describeSpeaker = ({ senderRole }: Pick<MessageSource, 'senderRole'>): string =>
  senderRole === SENDER_ROLES.user ? 'you' : 'an answer'

export const activeTitle = (row: Titled | null | undefined): string => nonBlank(row?.title) ?? DEFAULT_TITLES.active

export function branchOriginId(row: Pick<ConversationRow, 'metadata'>): string | null {
  const origin = row.metadata?.['branched_from']
  return typeof origin === 'string' ? origin : null
}

/** Distinguishes a branch from its origin of the same title. @param origin null if it was deleted */
export const describeBranch = (origin: Titled | null): string =>
  origin === null ? 'Branch of a conversation that was deleted' : `Branch of “${listTitle(origin)}”`

/** The identifiers of the person's own endpoints begin with an id that means nothing to people. */
const OWN_ENDPOINT = /^endpoint:[^/]*\//

export function modelLabel(
  identifier: string | null | undefined,
  known: readonly { model_identifier: string; name?: string | undefined }[],
): string {
  const model = known.find(({ model_identifier }) => model_identifier === identifier)
  return model?.name ?? nonBlank(identifier?.replace(OWN_ENDPOINT, '')) ?? DEFAULT_MODEL_LABEL
}

export function matchesSearch(words: readonly string[], search: string): boolean {
  const wanted = search.trim().toLowerCase()
  return words.some((word) => word.toLowerCase().includes(wanted))
}
