const prefixOf = (userId: string): string => `alcove-draft:${userId}:`
const keyOf = (userId: string, conversationId: string | null): string => prefixOf(userId) + (conversationId ?? 'new')

/**
 * What a person has typed and not sent yet, per conversation, over a reload and over a session that ended by itself.
 * Whoever signs in next in the same browser does not see it.
 */
export function readDraft(userId: string, conversationId: string | null): string {
  return localStorage.getItem(keyOf(userId, conversationId)) ?? ''
}

export function storeDraft(userId: string, conversationId: string | null, text: string): void {
  if (text === '') localStorage.removeItem(keyOf(userId, conversationId))
  else localStorage.setItem(keyOf(userId, conversationId), text)
}

/** Puts a text that could not be sent before what has been typed since, and returns both. */
export function restoreDraft(userId: string, conversationId: string | null, text: string): string {
  const restored = [text, readDraft(userId, conversationId)].filter((part) => part !== '').join('\n\n')
  storeDraft(userId, conversationId, restored)
  return restored
}

/** Forgets what a person has typed in all conversations, when that person signs out. */
export function forgetDrafts(userId: string): void {
  const keys = Object.keys(localStorage).filter((key) => key.startsWith(prefixOf(userId)))
  for (const key of keys) localStorage.removeItem(key)
}
