/** Questions on their way to the server, stored until it has them: a page that ends before that leaves them to the next one. */
import { draftPrefix, type DraftId } from './drafts.ts'
import { holdLock } from './storage/page-lock.ts'
import { localStore } from './storage/text-store.ts'

/** The ids are those of the rows to be: the same question sent again is asked once. */
export type SentQuestion = { id: string; conversationId: string; draftId: DraftId; text: string }

const prefixOf = (userId: string): string => `${draftPrefix(userId)}sent:`

/** Longer than a page tries to send a question. */
export const MAX_SENDING_MS = 60_000

/** A page holds it while it sends the question that is stored under the key. */
export const sendingLock = (key: string): string => `${key}:sending`

/** Questions that were put back into their box, of which the server may have received some. */
const returned = new Map<DraftId, SentQuestion>()

/** The question to send for a text: the one before, if it was put back and did not change. */
export function toQuestion(draftId: DraftId, text: string, conversationId: string): SentQuestion {
  const before = returned.get(draftId)
  returned.delete(draftId)
  return before?.text === text ? before : { id: crypto.randomUUID(), conversationId, draftId, text }
}

/** For a question whose text is in the message box again. */
export function markReturned(question: SentQuestion): void {
  returned.set(question.draftId, question)
}

/** For a question that the server has: the same text is another question from then on. */
export function forgetReturned({ id, draftId }: SentQuestion): void {
  if (returned.get(draftId)?.id === id) returned.delete(draftId)
}

/** Stores a question while this page sends it. Returns the function to call at the end, whatever it is. */
export function holdQuestion(userId: string, question: SentQuestion): () => void {
  const key = prefixOf(userId) + question.id
  localStore.setItem(key, JSON.stringify({ ...question, sentAt: Date.now() }), 'drafts')
  const release = holdLock(sendingLock(key))
  return () => {
    localStore.removeItem(key)
    release()
  }
}

/** The keys of the questions that pages of this person are sending, or have left behind. */
export const sentQuestionKeys = (userId: string): string[] =>
  localStore.keys().filter((key) => key.startsWith(prefixOf(userId)))
