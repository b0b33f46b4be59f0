import { ownName } from '#web/data/base-path.ts'
import { localStore } from './storage/text-store.ts'

const prefixOf = (userId: string): string => ownName(`alcove-draft:${userId}:`)
const keyOf = (userId: string, conversationId: string | null): string => prefixOf(userId) + (conversationId ?? 'new')

/** Survives a reload and an expired session. Other people who sign in on this browser do not see it. */
export function readDraft(userId: string, conversationId: string | null): string {
  return localStore.getItem(keyOf(userId, conversationId)) ?? ''
}

export function storeDraft(userId: string, conversationId: string | null, text: string): void {
  const key = keyOf(userId, conversationId)
  if (text === '') localStore.removeItem(key)
  else localStore.setItem(key, text, 'drafts')
}

export function restoreDraft(userId: string, conversationId: string | null, text: string): string {
  const restored = [text, readDraft(userId, conversationId)].filter((part) => part !== '').join('\n\n')
  storeDraft(userId, conversationId, restored)
  return restored
}

export function clearDrafts(userId: string): void {
  const keys = localStore.keys().filter((key) => key.startsWith(prefixOf(userId)))
  for (const key of keys) localStore.removeItem(key)
}
