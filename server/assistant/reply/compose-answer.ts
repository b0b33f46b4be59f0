import type { AnswerStep, ReplyError } from '#contract/message.ts'
import type { ClaimedReply, FinishedAnswer } from '#server/assistant/lease/claimed-reply.ts'
import { ProviderError } from '#server/providers/provider-error.ts'
import type { CheckedCitations } from './check-citations.ts'
import type { GeneratedAnswer } from './generate.ts'
import type { LoadedContext } from './load-context.ts'
import type { CommandResults } from './run-commands.ts'

export interface PhaseResults {
  readonly loaded: LoadedContext | undefined
  readonly commands: CommandResults | undefined
  readonly generated: GeneratedAnswer | undefined
  readonly checked: CheckedCitations | undefined
  readonly error: ReplyError | undefined
}

export function toReplyError(error: unknown): ReplyError {
  if (error instanceof ProviderError) return { code: error.code, message: error.message, retryable: error.retryable }
  return { code: 'internal', message: 'Something went wrong while the answer was written. Try again.', retryable: true }
}

interface Ending {
  readonly seq: number
  readonly isStopped: boolean
  readonly steps: readonly AnswerStep[]
}

export function composeAnswer(
  reply: ClaimedReply,
  { loaded, commands, generated, checked, error }: PhaseResults,
  { seq, isStopped, steps }: Ending,
): FinishedAnswer {
  const {
    hasNewText = false,
    tokensIn = null,
    tokensOut = null,
    reasoning = '',
    summaryId,
    isCut,
    isFiltered,
  } = generated ?? {}
  const state = error ? 'failed' : isStopped ? 'stopped' : 'done'
  const trace = loaded?.trace.current()
  const unread = trace ? (loaded?.context.unread.count ?? 0) : 0
  const { misquotes = [], unverified = [] } = checked ?? {}
  return {
    content: generated?.text ?? loaded?.context.unfinished.text ?? '',
    hasNewText,
    tokensIn,
    tokensOut,
    spent: generated?.spent,
    state,
    toolRuns: hasNewText && reply.kind !== 'continue' ? (commands?.toolRuns.count() ?? 0) : undefined,
    unstoredRuns: hasNewText || reply.kind === 'answer' ? commands?.toolRuns.unstored() : undefined,
    metadata: {
      model: loaded?.context.model.identifier ?? '',
      sources: checked?.sources ?? generated?.uncheckedSources ?? [],
      ...(summaryId === undefined ? {} : { summary: summaryId }),
      ...(trace === undefined ? {} : { trace }),
      ...(misquotes.length === 0 ? {} : { misquotes }),
      ...(unverified.length === 0 ? {} : { unverified }),
      ...(state === 'done' && checked?.isUnsupported ? { unsupported: true } : {}),
      ...(unread === 0 ? {} : { unread }),
      steps,
      ...(reasoning === '' ? {} : { reasoning }),
      ...(error ? { error } : {}),
      ...(state === 'stopped' ? { stopped: true } : {}),
      ...(state === 'done' && isCut ? { cut: true } : {}),
      ...(state === 'done' && isFiltered ? { filtered: true } : {}),
    },
    lastPart: {
      replyId: reply.id,
      messageId: reply.answerId,
      attempt: reply.attempt,
      seq,
      type: error ? 'error' : isStopped ? 'stopped' : 'done',
      ...(error ? { error } : {}),
    },
  }
}
