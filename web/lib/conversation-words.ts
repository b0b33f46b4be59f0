import type { ConversationRow } from '#contract/conversation.ts'
import { DEFAULT_TITLES } from '#contract/limits.ts'

type Words = Pick<ConversationRow, 'title' | 'model_name'>

/** The label of the model where none is known. */
const DEFAULT_MODEL_LABEL = 'Claude-3'

const given = (text: string | null | undefined): string | null =>
  text === null || text === undefined || text.trim() === '' ? null : text

export const listTitle = ({ title }: Pick<Words, 'title'>): string => given(title) ?? DEFAULT_TITLES.listed

export const activeTitle = (row: Words | null | undefined): string => given(row?.title) ?? DEFAULT_TITLES.active

export const modelLabel = (modelName: string | null | undefined): string => given(modelName) ?? DEFAULT_MODEL_LABEL

/** Whether the title or the description holds the text, whatever the case. */
export function matchesSearch(row: Words, search: string): boolean {
  const wanted = search.trim().toLowerCase()
  return listTitle(row).toLowerCase().includes(wanted) || modelLabel(row.model_name).toLowerCase().includes(wanted)
}
