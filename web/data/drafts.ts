import { ownName } from '#web/data/base-path.ts'
import { localStore } from './storage/text-store.ts'

/** Keys of everything that a person has typed and not sent begin with it. */
export const draftPrefix = (userId: string): string => ownName(`alcove-draft:${userId}:`)
const keyOf = (userId: string, draftId: DraftId): string => draftPrefix(userId) + (draftId ?? 'new')

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

/** Calls with what another tab stores as the draft. Returns the function that stops. */
export function followDraft(userId: string, draftId: DraftId, onStored: (text: string) => void): () => void {
  const follow = ({ key, newValue }: StorageEvent): void => {
    if (key === keyOf(userId, draftId)) onStored(newValue ?? '')
  }
  addEventListener('storage', follow)
  return () => removeEventListener('storage', follow)
}

export function restoreDraft(userId: string, draftId: DraftId, text: string): string {
  const restored = [text, readDraft(userId, draftId)].filter((part) => part !== '').join('\n\n')
  storeDraft(userId, draftId, restored)
  return restored
}

export function clearDrafts(userId: string): void {
  const keys = localStore.keys().filter((key) => key.startsWith(draftPrefix(userId)))
  for (const key of keys) localStore.removeItem(key)
}
