import { setImmediate as nextTurn } from 'node:timers/promises'
import { describeFullTexts } from '#contract/usage.ts'
import type { ClaimedReply } from '#server/assistant/lease/claimed-reply.ts'
import { MAX_TRIES } from '#server/assistant/lease/claims.ts'
import { type Describe, traceOperation } from '#server/base/tracing.ts'
import { isTransientFailure } from '#server/database/errors.ts'
import { ProviderError } from '#server/providers/provider-error.ts'
import { type Attempt, beginAttempt } from './attempt.ts'
import { type CheckedCitations, checkCitations, checkStopped } from './check-citations.ts'
import { type PhaseResults, toReplyError } from './compose-answer.ts'
import type { Interruptions, ReplyDependencies } from './dependencies.ts'
import { generate, type GeneratedAnswer } from './generate.ts'
import { loadContext, type LoadedContext } from './load-context.ts'
import { persist } from './persist.ts'
import { type CommandResults, runCommands } from './run-commands.ts'

/**
 * Stores one message, or none if a newer attempt exists or the server stops. Returns whether questions may be queued.
 * @throws database errors; the question is claimed again once its lease expires.
 */
export const answer = (
  reply: ClaimedReply,
  interruptions: Interruptions,
  dependencies: ReplyDependencies,
): Promise<boolean> =>
  traceOperation('reply', reply.kind, (describe) => write(reply, interruptions, dependencies, describe), {
    attempt: reply.attempt,
  })

async function write(
  reply: ClaimedReply,
  interruptions: Interruptions,
  dependencies: ReplyDependencies,
  describe: Describe,
): Promise<boolean> {
  const attempt = beginAttempt(reply, interruptions, dependencies)
  try {
    const results = await runPhases(attempt, dependencies)
    if (results.error) describe({ hasFailed: true, attributes: { code: results.error.code } })
    await reply.durable
    if (!attempt.abandoned.aborted) return await persist(attempt, results, interruptions.stopped.aborted, dependencies)
    await countAbandoned(reply, results, dependencies)
    return true
  } finally {
    await attempt.close()
  }
}

/** Deleting a conversation ends its answer; its model was asked all the same. */
async function countAbandoned(
  reply: ClaimedReply,
  { generated }: PhaseResults,
  { replyClaims, log }: ReplyDependencies,
): Promise<void> {
  if (!generated?.spent) return
  await replyClaims
    .countUnstored(reply, generated.spent)
    .catch((error: unknown) =>
      log.warn({ err: error, reply: reply.id }, 'the use of an abandoned answer was not counted'),
    )
}

async function runPhases(attempt: Attempt, dependencies: ReplyDependencies): Promise<PhaseResults> {
  const { reply, signal } = attempt
  let loaded: LoadedContext | undefined
  let commands: CommandResults | undefined
  let generated: GeneratedAnswer | undefined
  let checked: CheckedCitations | undefined
  const results = (error?: PhaseResults['error']): PhaseResults => ({ loaded, commands, generated, checked, error })
  try {
    await announce(attempt)
    loaded = await loadContext(attempt, dependencies)
    rejectWithoutRoom(loaded.context)
    commands = await runCommands(attempt, loaded.context, dependencies)
    generated = await generate(attempt, loaded, commands, dependencies)
    if (generated.failure) throw generated.failure.thrown
    await showLastWords(attempt)
    checked = checkCitations(loaded.context, commands, generated)
    attempt.stopwatch.lap('checked')
    rejectEmpty(generated)
    return results()
  } catch (thrown) {
    if (signal.aborted) {
      if (loaded && commands && generated) checked = checkStopped(loaded.context, commands, generated)
      return results()
    }
    // A transient database failure is not the model's: the question is answered again.
    if (isTransientFailure(thrown)) throw thrown
    const model = loaded?.context.model.identifier
    dependencies.log.warn({ err: thrown, reply: reply.id, model }, 'a reply failed')
    return results(toReplyError(thrown))
  }
}

/** @throws ProviderError after too many attempts. */
async function announce({ reply, writer, signal }: Attempt): Promise<void> {
  if (reply.attempt > 1) await reply.durable
  // A continuation keeps showing its earlier text until the context is loaded.
  if (reply.attempt > 1 && reply.kind !== 'continue') writer.append({ type: 'restart' })
  if (reply.tries > MAX_TRIES)
    throw new ProviderError('provider_failed', `This question could not be answered in ${MAX_TRIES} attempts.`, {
      retryable: true,
    })
  signal.throwIfAborted()
}

/**
 * Questions may be queued while there is room, and each answer may be millions of characters long.
 * @throws ProviderError if the answers so far have used the room up
 */
function rejectWithoutRoom({ textRoom }: LoadedContext['context']): void {
  if ('isLeft' in textRoom) {
    if (!textRoom.isLeft)
      throw new ProviderError('no_room', 'This space is full. Its owner can make room.', { retryable: true })
    return
  }
  const { text_bytes: used, text_limit: limit } = textRoom
  if (limit > 0 && used > limit) throw new ProviderError('no_room', describeFullTexts(textRoom), { retryable: true })
}

/** Sends the last words before the citations are checked; `persist` retries while the database is away. */
async function showLastWords({ writer }: Attempt): Promise<void> {
  await writer.flushed().catch(() => undefined)
  await nextTurn()
}

function rejectEmpty({ text, hasNewText, isFiltered }: GeneratedAnswer): void {
  if (hasNewText && text.trim() !== '') return
  if (isFiltered)
    throw new ProviderError(
      'provider_filtered',
      'The content filter of the model server let no answer through. Ask in other words, or choose another model.',
      { retryable: false },
    )
  throw new ProviderError('provider_empty', 'The model answered with nothing. Try again, or choose another one.', {
    retryable: true,
  })
}
