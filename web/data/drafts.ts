import { ownName } from '#web/data/base-path.ts'

const prefixOf = (userId: string): string => ownName(`alcove-draft:${userId}:`)
const keyOf = (userId: string, conversationId: string | null): string => prefixOf(userId) + (conversationId ?? 'new')

/** Drafts that exceed the browser's storage; they do not survive a reload. */
const unstoredDrafts = new Map<string, string>()

/** Survives a reload and an expired session. Other people who sign in on this browser do not see it. */
export function readDraft(userId: string, conversationId: string | null): string {
  const key = keyOf(userId, conversationId)
  return unstoredDrafts.get(key) ?? localStorage.getItem(key) ?? ''
}

export function storeDraft(userId: string, conversationId: string | null, text: string): void {
  const key = keyOf(userId, conversationId)
  unstoredDrafts.delete(key)
  try {
    if (text === '') localStorage.removeItem(key)
    else localStorage.setItem(key, text)
  } catch {
    localStorage.removeItem(key)
    unstoredDrafts.set(key, text)
  }
}

export function restoreDraft(userId: string, conversationId: string | null, text: string): string {
  const restored = [text, readDraft(userId, conversationId)].filter((part) => part !== '').join('\n\n')
  storeDraft(userId, conversationId, restored)
  return restored
}

export function clearDrafts(userId: string): void {
  const keys = Object.keys(localStorage).filter((key) => key.startsWith(prefixOf(userId)))
  for (const key of keys) localStorage.removeItem(key)
  unstoredDrafts.clear()
}
