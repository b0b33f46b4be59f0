import { READER_MODEL } from '#contract/product-names.ts'
import type { Source } from '#contract/source.ts'
import type { Citations } from '#server/assistant/citations/markers.ts'
import { writeExtractiveAnswer } from '#server/assistant/extractive/extractive-answer.ts'
import { isQuotable } from '#server/assistant/extractive/quotable.ts'
import type { Spent } from '#server/assistant/lease/claimed-reply.ts'
import { estimateTokens } from '#server/assistant/lease/spending.ts'
import { describeLibraryAnswer } from '#server/assistant/library-questions/describe-library.ts'
import type { LibraryAnswer } from '#server/assistant/library-questions/find-library-answer.ts'
import { splitParts } from '#server/assistant/retrieval/question-parts.ts'
import { asksAboutWholeDocument, asksToListAll } from '#server/assistant/retrieval/whole-document-question.ts'
import { describeRejection } from '#server/assistant/tool-calls/tool-definitions.ts'
import type { ChatPart, EmitPart } from '#server/providers/chat.ts'
import type { Attempt } from './attempt.ts'
import type { ReplyDependencies } from './dependencies.ts'
import { createLiveText } from './live-text.ts'
import type { LoadedContext } from './load-context.ts'
import { type AnswerStream, prepareModelStream } from './model-request.ts'
import type { CommandResults } from './run-commands.ts'

/** Pages that an answer from a whole document lists as sources if it cites none. */
export const MAX_UNCITED_SOURCES = 8

/** More than any model writes: a server that sends without end fills neither the memory nor the database. */
const MAX_WRITTEN_CHARACTERS = 1_000_000

export interface GeneratedAnswer {
  readonly text: string
  readonly hasNewText: boolean
  readonly reasoning: string
  readonly citations: Citations
  readonly tokensIn: number | null
  readonly tokensOut: number | null
  readonly spent: Spent | undefined
  readonly isCut: boolean
  /** The provider's content filter ended it. */
  readonly isFiltered: boolean
  readonly summaryId: string | undefined
  readonly uncheckedSources: readonly Source[]
  /** Why it ended early; the text so far is stored. */
  readonly failure: { readonly thrown: unknown } | undefined
}

/** @throws ProviderError, a database error, or the reason of an aborted signal, before anything is written. */
export async function generate(
  attempt: Attempt,
  loaded: LoadedContext,
  commands: CommandResults,
  dependencies: ReplyDependencies,
): Promise<GeneratedAnswer> {
  const { writer, signal, stopwatch, releasePriority } = attempt
  const { context, trace } = loaded
  const { findings, sourceList, toolRuns } = commands
  const {
    start,
    summaryId,
    charge,
    tokensIn: estimatedTokensIn = 0,
  } = context.model.identifier === READER_MODEL
    ? quoteSources(loaded, commands)
    : await prepareModelStream(attempt, loaded, commands, dependencies)
  const maxSources = context.trace?.scope === 'whole' ? MAX_UNCITED_SOURCES : undefined
  const uncheckedSources = findings.length === 0 ? sourceList.all.slice(0, maxSources) : context.unfinished.sources
  const liveText = createLiveText({ writer, context, sourceList })
  let reasoning = ''
  let usage: Pick<GeneratedAnswer, 'tokensIn' | 'tokensOut' | 'isCut' | 'isFiltered'> = {
    tokensIn: null,
    tokensOut: null,
    isCut: false,
    isFiltered: false,
  }
  let failure: GeneratedAnswer['failure']
  let written = context.unfinished.text.length
  let hasBegun = false
  let recorded = Promise.resolve()
  // A combined signal checks its sources on every access, so a flag is cheaper for each token.
  let isOver = signal.aborted
  signal.addEventListener('abort', () => (isOver = true), { once: true })

  function receive(part: ChatPart): void {
    if (isOver) return
    if (!hasBegun) {
      stopwatch.lap('begun')
      releasePriority()
    }
    hasBegun = true
    if (part.type === 'text' || part.type === 'reasoning') {
      written += part.text.length
      if (written > MAX_WRITTEN_CHARACTERS) return
    }
    if (part.type === 'finish') {
      const { tokensIn, tokensOut, isCut = false, isFiltered = false } = part
      usage = { tokensIn, tokensOut, isCut, isFiltered }
    } else if (part.type === 'text') liveText.push(part.text)
    else if (part.type === 'thought') reasoning += liveText.withdraw()
    else if (part.type === 'pictures-refused')
      trace.addNote('The model takes no pictures: only the text recognised in them was read.')
    else if (part.type === 'failed-call') {
      recorded = recorded.then(() => toolRuns.recordFailure(part.name, describeRejection(part.error)))
      recorded.catch(() => undefined)
    } else {
      reasoning += part.text
      writer.append({ type: 'reasoning', text: part.text })
    }
  }

  try {
    await start(receive).finally(() => recorded)
    signal.throwIfAborted()
    liveText.end()
    writer.requestFlush()
    stopwatch.lap('written')
  } catch (thrown) {
    failure = { thrown }
  }
  // A provider that failed before it began has used nothing; one that was stopped has read the question.
  const hasUsed = usage.tokensIn !== null || written > context.unfinished.text.length || signal.aborted
  const result = liveText.result()
  const spent = hasUsed
    ? charge?.({
        in: usage.tokensIn ?? estimatedTokensIn,
        out: usage.tokensOut ?? estimateTokens(result.text.slice(context.unfinished.text.length) + reasoning),
      })
    : undefined
  const isCut = usage.isCut || written > MAX_WRITTEN_CHARACTERS
  return { ...result, reasoning, ...usage, spent, isCut, summaryId, uncheckedSources, failure }
}

function quoteSources({ context, providers }: LoadedContext, { sections }: CommandResults): AnswerStream {
  if (context.libraryAnswer) return answerAboutLibrary(context.libraryAnswer)
  const { query, sources, trace, hasDocuments, isEmptyLibrary, missingDocumentNotes, refusal, languages } = context
  const parts = writeExtractiveAnswer({
    quotes: sources.filter(isQuotable),
    refusal: refusal && { ...refusal, languages },
    isEmptyLibrary,
    missingDocumentNotes,
    isDocumentUnnamed: hasDocuments && asksAboutWholeDocument(query),
    isSummary: trace?.scope === 'whole' && !asksToListAll(query),
    hasParts: splitParts(context.question).length > 0,
    sections,
    hasModels: providers.configured.length > 0,
  })
  return { start: (emit) => Promise.resolve(parts.forEach(emit)), summaryId: undefined }
}

function answerAboutLibrary(answer: LibraryAnswer): AnswerStream {
  const start = (emit: EmitPart): Promise<void> => {
    emit({ type: 'text', text: describeLibraryAnswer(answer) })
    emit({ type: 'finish', tokensIn: null, tokensOut: null })
    return Promise.resolve()
  }
  return { start, summaryId: undefined }
}
