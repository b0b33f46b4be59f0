/** Merges the streamed parts of a reply into the thread store, and fetches what the stream has missed. */
import type { QueryClient } from '@tanstack/react-query'
import type { ReplyPart } from '#contract/reply-events.ts'
import { SENDER_ROLES } from '#contract/sender-roles.ts'
import { HttpError } from '#web/data/client.ts'
import { logFailure } from '#web/data/live/log-failure.ts'
import { fetchReplyInProgress } from '#web/data/messages.ts'
import { setAwaiting, setReply, useThreadStore } from '#web/data/thread-store.ts'
import { isTemporary } from '#web/lib/messages/merge-messages.ts'
import { hasGap, mergePart, mergeSnapshot, type ReplyView } from '#web/lib/messages/reply-parts.ts'
import { cachedMessages, isReplyAwaited, isReplyCached, replaceReplyByRow } from './stored-reply.ts'

const PUBLISH_INTERVAL_MS = 50

/** Text that arrives faster than people read is published less often: each update costs the page a render. */
const LONG_PART_CHARACTERS = 500
const LONG_PART_PUBLISH_INTERVAL_MS = 200

const ROW_CHECKS_MS = [100, 250, 500]

export type ReplyStream = {
  receivePart: (part: ReplyPart) => void
  /** Fetches the reply in progress. Without one, the last question is no longer awaited. */
  catchUp: () => Promise<void>
  /** Fetches what was written since the last part. Messages are fetched elsewhere; then `endAwaiting` is called. */
  poll: (signal: AbortSignal) => Promise<void>
  /** Ends the waiting for an answer if the last poll found none being written. */
  endAwaiting: () => void
  stop: () => void
}

export function createReplyStream(
  queryClient: QueryClient,
  conversationId: string,
  refetchMessages: () => Promise<void>,
): ReplyStream {
  let isStopped = false
  let isFetching = false
  /** Apart from the other: a channel that comes back catches up while an answer to asking is still awaited. */
  let isPolling = false
  let view: ReplyView | null = useThreadStore.getState().replies[conversationId] ?? null
  let publishTimer: ReturnType<typeof setTimeout> | undefined
  const rowChecks: ReturnType<typeof setTimeout>[] = []

  const lastStoredQuestion = (): string | undefined => {
    const question = cachedMessages(queryClient, conversationId).findLast(
      (message) => message.sender_role === SENDER_ROLES.user,
    )
    return question === undefined || isTemporary(question) ? undefined : question.id
  }

  const checkForRow = (delayMs: number): void => {
    if (replaceReplyByRow(queryClient, conversationId)) return
    console.warn(`The row of a finished reply has not come after ${delayMs} ms, asking for it`)
    logFailure(refetchMessages())
  }

  const setView = (next: ReplyView): void => {
    if (view !== null && view.replyId !== next.replyId) rowChecks.splice(0).forEach(clearTimeout)
    view = next
  }

  const publish = (): void => {
    publishTimer = undefined
    if (isStopped || view === null) return
    if (isReplyCached(queryClient, conversationId, view)) {
      view = null
      return
    }
    setReply(conversationId, view)
    if (view.phase !== 'writing' && rowChecks.length === 0) {
      for (const delayMs of ROW_CHECKS_MS) rowChecks.push(setTimeout(() => checkForRow(delayMs), delayMs))
    }
  }

  const publishSoon = (characters: number): void => {
    publishTimer ??= setTimeout(
      publish,
      characters > LONG_PART_CHARACTERS ? LONG_PART_PUBLISH_INTERVAL_MS : PUBLISH_INTERVAL_MS,
    )
  }

  /** The question that was stored before a request that found no reply in progress: no answer to it will come. */
  let unansweredQuestion: string | undefined

  const poll = async (signal: AbortSignal): Promise<void> => {
    if (isFetching || isPolling) return
    isPolling = true
    try {
      const question = lastStoredQuestion()
      const known = view !== null && view.seq > 0 ? view : undefined
      const snapshot = await fetchReplyInProgress(conversationId, known, signal)
      if (isStopped) return
      unansweredQuestion = snapshot === null ? question : undefined
      if (snapshot === null) return
      const hasAllParts = snapshot.replyId !== known?.replyId || snapshot.attempt !== known.attempt
      if (hasAllParts) setView(mergeSnapshot(view, snapshot))
      else if (view?.replyId === snapshot.replyId) for (const part of snapshot.parts) setView(mergePart(view, part))
      publishSoon(0)
    } catch (error) {
      // A deleted conversation, which the changes tell.
      if (!(error instanceof HttpError && error.status === 404)) throw error
    } finally {
      isPolling = false
    }
  }

  const catchUp = async (): Promise<void> => {
    if (isFetching) return
    isFetching = true
    try {
      const question = lastStoredQuestion()
      const snapshot = await fetchReplyInProgress(conversationId)
      if (isStopped) return
      if (snapshot === null) {
        await refetchMessages()
        // The question was stored before the request, and nothing is being written: no answer will come.
        if (question !== undefined) setAwaiting(conversationId, { kind: 'ended', questionId: question })
      } else {
        view = mergeSnapshot(view, snapshot)
        publishSoon(0)
      }
    } finally {
      isFetching = false
    }
  }

  return {
    catchUp,
    poll,
    endAwaiting: () => {
      const question = unansweredQuestion
      unansweredQuestion = undefined
      if (question !== undefined && question === lastStoredQuestion() && isReplyAwaited(queryClient, conversationId))
        setAwaiting(conversationId, { kind: 'ended', questionId: question })
    },
    receivePart: (part) => {
      const next = mergePart(view, part)
      setView(next)
      if (hasGap(next)) logFailure(catchUp())
      publishSoon(part.text?.length ?? 0)
    },
    stop: () => {
      isStopped = true
      clearTimeout(publishTimer)
      rowChecks.forEach(clearTimeout)
    },
  }
}
