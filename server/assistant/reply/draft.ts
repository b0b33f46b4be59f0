/** What an answer came to, as far as it came, and how that is stored. */
import { READER_MODEL } from '#contract/limits.ts'
import { type AnswerStep, type ReplyError } from '#contract/message.ts'
import { isPassageSource, isWebSource, type Source } from '#contract/source.ts'
import { type RetrievalTrace } from '#contract/trace.ts'
import { findMisquotes } from '#server/assistant/citations/check-quotations.ts'
import { focusSource } from '#server/assistant/citations/focus-source.ts'
import { type Citations } from '#server/assistant/citations/markers.ts'
import { type SourceList } from '#server/assistant/citations/source-list.ts'
import { type ClaimedReply, type FinishedAnswer } from '#server/assistant/queue/claimed-reply.ts'
import { type ToolRuns } from '#server/assistant/tools/tool-runs.ts'
import { ProviderError } from '#server/providers/provider-error.ts'
import { type ReplyContext } from './context.ts'

export interface Draft {
  text: string
  reasoning: string
  hasNewText: boolean
  isCut: boolean
  model: string
  provider: string | undefined
  isUntitled: boolean
  used: readonly Source[]
  summaryId: string | undefined
  misquotes: readonly string[]
  isUnsupported: boolean
  /** Documents that it should have been written from, and that were still being read. */
  unread: number
  trace: RetrievalTrace | undefined
  tokensIn: number | null
  tokensOut: number | null
  error: ReplyError | undefined
}

/** Of a whole document, an answer that cites nothing keeps so many pages as its sources. */
export const MOST_UNCITED = 8

export const createDraft = (): Draft => ({
  text: '',
  reasoning: '',
  hasNewText: false,
  isCut: false,
  model: '',
  provider: undefined,
  isUntitled: false,
  used: [],
  summaryId: undefined,
  misquotes: [],
  isUnsupported: false,
  unread: 0,
  trace: undefined,
  tokensIn: null,
  tokensOut: null,
  error: undefined,
})

/** For whoever looks at how the answer came about. */
export function addNote(draft: Draft, sentence: string): void {
  if (draft.trace) draft.trace = { ...draft.trace, notes: [...draft.trace.notes, sentence] }
}

/**
 * A model that cites says itself what it used; one that does not leaves all that it was given, or what was found where it
 * was sent to look.
 */
function usedSources({ all }: SourceList, cited: Citations, hasLooked: boolean): readonly Source[] {
  if (cited.size > 0) return all.filter(({ n }) => cited.has(n))
  return hasLooked ? all.filter(isWebSource) : all
}

/** Of a page that was read as a whole, what the answer says of it; of an answer that goes on, sources are narrowed already. */
function focused(
  used: readonly Source[],
  { text, cited }: { text: string; cited: Citations },
  { sources, unfinished: previous, model }: ReplyContext,
): readonly Source[] {
  if (model.identifier === READER_MODEL) return used
  const whole = new Map(
    sources.filter((source) => !previous.sources.includes(source)).map((source) => [source.n, source]),
  )
  return used.map((source) => {
    const page = whole.get(source.n)
    return page && isPassageSource(page) ? focusSource(page, text, cited.get(source.n)) : source
  })
}

interface Checked {
  readonly material: ReplyContext
  readonly list: SourceList
  /** What the text cites, and where. */
  readonly cited: Citations
  /** Whether a tool looked outside the documents. */
  readonly hasLooked: boolean
}

/** Holds the whole text against its sources. */
export function checkDraft(draft: Draft, { material, list, cited, hasLooked }: Checked): void {
  const { model, hasDocuments, trace } = material
  const used = usedSources(list, cited, hasLooked)
  if (trace?.scope !== 'whole') draft.used = used
  else
    draft.used = cited.size === 0 ? used.slice(0, MOST_UNCITED) : focused(used, { text: draft.text, cited }, material)
  draft.misquotes = findMisquotes(draft.text, list.textOf)
  // The Reader says itself that it found nothing; of a whole document all was read, whether or not it is cited.
  draft.isUnsupported =
    cited.size === 0 && hasDocuments && trace?.scope === 'passages' && model.identifier !== READER_MODEL
}

export function toReplyError(error: unknown): ReplyError {
  if (error instanceof ProviderError) return { code: error.code, message: error.message, retryable: error.retryable }
  return { code: 'internal', message: 'Something went wrong while the answer was written. Try again.', retryable: true }
}

interface Finishing {
  /** Of the last live part. */
  readonly seq: number
  readonly isStopped: boolean
  /** Undefined: no tool could have run. */
  readonly runs: Pick<ToolRuns, 'count' | 'unstored'> | undefined
  readonly steps: readonly AnswerStep[]
}

export function finishDraft(
  draft: Draft,
  reply: ClaimedReply,
  { seq, isStopped, runs, steps }: Finishing,
): FinishedAnswer {
  const { text, reasoning, hasNewText, isCut, model, used, summaryId, trace, unread, tokensIn, tokensOut, error } =
    draft
  const state = error ? 'failed' : isStopped ? 'stopped' : 'done'
  return {
    content: text,
    hasNewText,
    tokensIn,
    tokensOut,
    state,
    toolRuns: hasNewText && reply.kind !== 'continue' ? (runs?.count() ?? 0) : undefined,
    unstoredRuns: hasNewText ? runs?.unstored() : undefined,
    metadata: {
      model,
      sources: used,
      ...(summaryId === undefined ? {} : { summary: summaryId }),
      ...(trace === undefined ? {} : { trace }),
      ...(draft.misquotes.length === 0 ? {} : { misquotes: draft.misquotes }),
      ...(state === 'done' && draft.isUnsupported ? { unsupported: true } : {}),
      ...(unread === 0 ? {} : { unread }),
      steps,
      ...(reasoning === '' ? {} : { reasoning }),
      ...(error ? { error } : {}),
      ...(state === 'stopped' ? { stopped: true } : {}),
      ...(state === 'done' && isCut ? { cut: true } : {}),
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
