import { setTimeout as delay } from 'node:timers/promises'
import { READER_MODEL } from '#contract/product-names.ts'
import { isTransientFailure } from '#server/database/errors.ts'
import type { Attempt } from './attempt.ts'
import { composeAnswer, type PhaseResults } from './compose-answer.ts'
import type { ReplyDependencies } from './dependencies.ts'

const RETRY_INTERVAL_MS = 250

/** Retries while the database is away. @returns whether questions announced before the end may still be queued. */
export async function persist(
  attempt: Attempt,
  results: PhaseResults,
  isStopped: boolean,
  { replyClaims, titles, wakeCount }: ReplyDependencies,
): Promise<boolean> {
  const { reply, writer, stopwatch } = attempt
  for (;;) {
    try {
      await writer.flushed()
      if (attempt.isLost()) {
        if (results.generated?.spent) await replyClaims.countUnstored(reply, results.generated.spent)
        return true
      }
      const answer = composeAnswer(reply, results, { seq: writer.nextSeq(), isStopped, steps: stopwatch.steps })
      const wakesBefore = wakeCount()
      const { isStored, hasQueuedQuestions } = await replyClaims.finish(reply, answer)
      if (!isStored && answer.spent) await replyClaims.countUnstored(reply, answer.spent)
      if (isStored && results.loaded?.context.isUntitled) titles.suggest(titleRequest(attempt, results, isStopped))
      return hasQueuedQuestions || wakeCount() !== wakesBefore
    } catch (error) {
      if (!isTransientFailure(error) || attempt.abandoned.aborted) throw error
      await delay(RETRY_INTERVAL_MS)
    }
  }
}

/** A model that failed or was stopped is asked for no title. */
function titleRequest({ reply }: Attempt, { loaded, generated, error }: PhaseResults, isStopped: boolean) {
  const { conversationId, owner } = reply
  const model = loaded?.context.model
  const isAsked = !isStopped && !error && generated?.text !== '' && model?.identifier !== READER_MODEL
  return { conversationId, owner, model: isAsked && model ? model : null, spaceId: loaded?.context.keysOfSpace }
}
