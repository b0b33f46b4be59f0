import type { QueryClient } from '@tanstack/react-query'
import { z } from 'zod'
import { readDraft, storeDraft, type DraftId } from '#web/data/drafts.ts'
import { messageQuery } from '#web/data/messages.ts'
import { markReturned, sendingLock, sentQuestionKeys, type SentQuestion } from '#web/data/sent-questions.ts'
import { readHeldLocks } from '#web/data/storage/page-lock.ts'
import { localStore } from '#web/data/storage/text-store.ts'

const storedQuestion = z.object({
  id: z.string(),
  conversationId: z.string(),
  draftId: z.string().nullable(),
  text: z.string(),
})

/** The questions that earlier pages left behind; each is returned once. */
async function takeLeftQuestions(userId: string): Promise<SentQuestion[]> {
  const held = new Set(await readHeldLocks())
  return sentQuestionKeys(userId)
    .filter((key) => !held.has(sendingLock(key)))
    .flatMap((key) => {
      const stored = localStore.getItem(key)
      localStore.removeItem(key)
      return storedQuestion.safeParse(JSON.parse(stored ?? 'null')).data ?? []
    })
}

type Boxes = {
  /** Puts a text before what is typed in its box. */
  restore: (draftId: DraftId, text: string) => void
  fill: (draftId: DraftId, text: string) => void
}

/** Puts questions that an earlier page was sending back into their boxes, unless the server has them. */
export async function putBackQuestions(queryClient: QueryClient, userId: string, boxes: Boxes): Promise<void> {
  for (const question of await takeLeftQuestions(userId)) {
    const { id, conversationId, draftId, text } = question
    markReturned(question)
    // Before the server is asked, which may not answer.
    boxes.restore(draftId, text)
    const row = await queryClient.query({ ...messageQuery(conversationId, id), staleTime: 0 })
    const draft = readDraft(userId, draftId)
    if (row === null || !draft.startsWith(text)) continue
    const typedSince = draft.slice(text.length).trimStart()
    storeDraft(userId, draftId, typedSince)
    boxes.fill(draftId, typedSince)
  }
}
