const keyOf = (conversationId: string | null): string => `alcove-draft:${conversationId ?? 'new'}`

/** What was typed and not sent yet, per conversation, over a reload. */
export function readDraft(conversationId: string | null): string {
  return localStorage.getItem(keyOf(conversationId)) ?? ''
}

export function storeDraft(conversationId: string | null, text: string): void {
  if (text === '') localStorage.removeItem(keyOf(conversationId))
  else localStorage.setItem(keyOf(conversationId), text)
}

/** Puts a text that could not be sent before what has been typed since, and returns both. */
export function restoreDraft(conversationId: string | null, text: string): string {
  const restored = [text, readDraft(conversationId)].filter((part) => part !== '').join('\n\n')
  storeDraft(conversationId, restored)
  return restored
}

/** Forgets what was typed in all conversations, when somebody signs out. */
export function forgetDrafts(): void {
  const keys = Object.keys(localStorage).filter((key) => key.startsWith('alcove-draft:'))
  for (const key of keys) localStorage.removeItem(key)
}
