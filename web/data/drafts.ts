import { ownName } from '#web/data/base-path.ts'
import { localStore } from './storage/text-store.ts'

const prefixOf = (userId: string): string => ownName(`alcove-draft:${userId}:`)
const keyOf = (userId: string, draftId: DraftId): string => prefixOf(userId) + (draftId ?? 'new')

/** The id of a conversation, or for a new one that of its space; null: a new personal one. */
export type DraftId = string | null

/** Survives a reload and an expired session. Other people who sign in on this browser do not see it. */
export function readDraft(userId: string, draftId: DraftId): string {
  return localStore.getItem(keyOf(userId, draftId)) ?? ''
}

export function storeDraft(userId: string, draftId: DraftId, text: string): void {
  const key = keyOf(userId, draftId)
  if (text === '') localStore.removeItem(key)
  else localStore.setItem(key, text, 'drafts')
}

export function restoreDraft(userId: string, draftId: DraftId, text: string): string {
  const restored = [text, readDraft(userId, draftId)].filter((part) => part !== '').join('\n\n')
  storeDraft(userId, draftId, restored)
  return restored
}

export function clearDrafts(userId: string): void {
  const keys = localStore.keys().filter((key) => key.startsWith(prefixOf(userId)))
  for (const key of keys) localStore.removeItem(key)
}
