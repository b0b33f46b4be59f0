import type { QueryClient } from '@tanstack/react-query'
import { z } from 'zod'
import { readDraft, storeDraft, type DraftId } from '#web/data/drafts.ts'
import { messageQuery } from '#web/data/messages.ts'
import {
  forgetReturned,
  markReturned,
  MAX_SENDING_MS,
  sendingLock,
  sentQuestionKeys,
  type SentQuestion,
} from '#web/data/sent-questions.ts'
import { readHeldLocks } from '#web/data/storage/page-lock.ts'
import { localStore } from '#web/data/storage/text-store.ts'

const storedQuestion = z.object({
  id: z.string(),
  conversationId: z.string(),
  draftId: z.string().nullable(),
  text: z.string(),
  sentAt: z.number(),
})

interface LeftQuestion {
  readonly key: string
  readonly question: SentQuestion
}

/** The questions that earlier pages left behind. */
async function findLeftQuestions(userId: string): Promise<LeftQuestion[]> {
  const held = await readHeldLocks()
  return sentQuestionKeys(userId).flatMap((key) => {
    const { data: question } = storedQuestion.safeParse(JSON.parse(localStore.getItem(key) ?? 'null'))
    if (question === undefined) {
      localStore.removeItem(key)
      return []
    }
    const isSending = held?.includes(sendingLock(key)) ?? Date.now() - question.sentAt < MAX_SENDING_MS
    return isSending ? [] : [{ key, question }]
  })
}

type Boxes = {
  /** Puts a text before what is typed in its box. */
  restore: (draftId: DraftId, text: string) => void
  fill: (draftId: DraftId, text: string) => void
}

/**
 * Puts questions that an earlier page was sending back into their boxes, unless the server has them. They stay stored until
 * the server has said so.
 */
export async function putBackQuestions(queryClient: QueryClient, userId: string, boxes: Boxes): Promise<void> {
  const left = await findLeftQuestions(userId)
  // Before the server is asked, which may not answer.
  for (const { question } of left) {
    const { draftId, text } = question
    markReturned(question)
    if (!readDraft(userId, draftId).startsWith(text)) boxes.restore(draftId, text)
  }
  await Promise.all(
    left.map(async ({ key, question }) => {
      const { id, conversationId, draftId, text } = question
      const row = await queryClient.query({ ...messageQuery(conversationId, id), staleTime: 0 })
      localStore.removeItem(key)
      if (row === null) return
      forgetReturned(question)
      const draft = readDraft(userId, draftId)
      if (!draft.startsWith(text)) return
      const typedSince = draft.slice(text.length).trimStart()
      storeDraft(userId, draftId, typedSince)
      boxes.fill(draftId, typedSince)
    }),
  )
}
