const prefixOf = (userId: string): string => `alcove-draft:${userId}:`
const keyOf = (userId: string, conversationId: string | null): string => prefixOf(userId) + (conversationId ?? 'new')

/** What the browser has no room for: it outlives a change of the conversation, though not a reload. */
const unstoredDrafts = new Map<string, string>()

/**
 * What a person has typed and not sent yet, per conversation, over a reload and over a session that ended by itself.
 * Whoever signs in next in the same browser does not see it.
 */
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

/** Puts a text that could not be sent before what has been typed since, and returns both. */
export function restoreDraft(userId: string, conversationId: string | null, text: string): string {
  const restored = [text, readDraft(userId, conversationId)].filter((part) => part !== '').join('\n\n')
  storeDraft(userId, conversationId, restored)
  return restored
}

/** Forgets what a person has typed in all conversations, when that person signs out. */
export function clearDrafts(userId: string): void {
  const keys = Object.keys(localStorage).filter((key) => key.startsWith(prefixOf(userId)))
  for (const key of keys) localStorage.removeItem(key)
  unstoredDrafts.clear()
}
