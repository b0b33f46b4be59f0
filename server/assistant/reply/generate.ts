/** Sets a model, or the Reader, to write from what was found. */
import { READER_MODEL } from '#contract/limits.ts'
import { SUMMARY_STEP } from '#contract/reply-events.ts'
import { isMessageSource, isPassageSource } from '#contract/source.ts'
import { type SourceList } from '#server/assistant/citations/source-list.ts'
import { writeExtractiveAnswer } from '#server/assistant/extractive/extractive-answer.ts'
import { isQuotable } from '#server/assistant/extractive/quotable.ts'
import { fitPrompt, pictureTokensOf, requestText } from '#server/assistant/prompt/fit-prompt.ts'
import { type Prompt, type PromptInput } from '#server/assistant/prompt/prompt.ts'
import { asksToListAll, asksAboutWholeDocument } from '#server/assistant/retrieval/whole-document-question.ts'
import { condenseSources } from '#server/assistant/retrieval/whole-document.ts'
import { withToolRuns } from '#server/assistant/tools/earlier-runs.ts'
import { fitTools } from '#server/assistant/tools/fit-tools.ts'
import { type Finding } from '#server/assistant/tools/outcome.ts'
import { type FindingSection } from '#server/assistant/tools/quote-findings.ts'
import { type ResultBudget } from '#server/assistant/tools/result-budget.ts'
import { type Log } from '#server/base/log.ts'
import { type Database } from '#server/database/scope.ts'
import { type ChatModel, type ChatTool, type EmitPart } from '#server/providers/chat.ts'
import { type Providers } from '#server/providers/provider-registry.ts'
import { type ReplyContext } from './context.ts'
import { addNote, type Draft } from './draft.ts'
import { type ReplyWriter } from './reply-log.ts'
import { markOmittedSources } from './trace-cuts.ts'

export interface Writing {
  readonly conversationId: string
  readonly material: ReplyContext
  readonly draft: Draft
  readonly writer: ReplyWriter
  readonly providers: Providers
  readonly findings: readonly Finding[]
  readonly list: SourceList
  /** What the Reader says of the findings; none where no tool looked outside the documents. */
  readonly sections: readonly FindingSection[]
  /** What a model may call by itself, and the room for what that brings back. */
  readonly tools: readonly ChatTool[]
  readonly room: ResultBudget
  readonly signal: AbortSignal
  readonly database: Database
  readonly log: Log
}

/**
 * Resolves with what writes, once it is told where to: until everything was given.
 * @throws ProviderError, what the database refused, or the reason of an aborted signal; so does what it resolves with.
 */
export async function beginWriting(writing: Writing): Promise<(give: EmitPart) => Promise<void>> {
  const { material, draft, writer, providers, findings, list, sections, room, signal } = writing
  const { history, unfinished: previous, model, sources, trace } = material
  if (model.identifier === READER_MODEL) {
    const quotes = sources.filter(isQuotable)
    const hasModels = providers.configured.length > 0
    // Of several documents none was meant by itself.
    const isUnnamed = material.hasDocuments && asksAboutWholeDocument(material.query)
    const isSummary = trace?.scope === 'whole' && !asksToListAll(material.query)
    const parts = writeExtractiveAnswer({
      quotes,
      isEmptyLibrary: material.isEmptyLibrary,
      missingDocumentNotes: material.missingDocumentNotes,
      isDocumentUnnamed: isUnnamed,
      isSummary,
      sections,
      hasModels,
    })
    return (give) => Promise.resolve(parts.forEach(give))
  }
  const chat = providers.chatModel(model.provider, model.identifier)
  const { fitting: tools, omitted: toolsLeftOut } = await fitTools(writing.tools, model)
  if (toolsLeftOut.length > 0)
    addNote(draft, `The model's window had room for ${tools.length} of the ${writing.tools.length} tools.`)
  const shown = trace?.scope === 'whole' ? await showWhole(material, chat, signal) : { sources }
  if (shown.pages && draft.trace) {
    addNote(draft, `Only the first ${shown.pages.read} of ${shown.pages.of} pages were read.`)
    draft.trace = { ...draft.trace, pages: shown.pages }
  }
  const input: PromptInput = {
    history: withToolRuns(history),
    unfinished: previous.text,
    ...shown,
    unreadDocuments: material.unread.count,
    missingDocumentNotes: material.missingDocumentNotes,
    findings,
    numberOf: list.numberOf,
    tools,
    omittedTools: toolsLeftOut,
    pictures: material.pictures,
    contextWindow: model.contextWindow,
  }
  const prompt = await fit(writing, input, chat)
  room.reserve(requestText(prompt, input), pictureTokensOf(input))
  // Where the database is away, storing tries again.
  const onPause = () => writer.flushed().catch(() => undefined)
  return (give) => chat.stream({ system: prompt.system, turns: prompt.turns, tools, signal, onPause }, give)
}

/** A whole document as far as the model's window and patience go. */
async function showWhole(
  { sources, query: asked, model }: ReplyContext,
  chat: ChatModel,
  signal: AbortSignal,
): Promise<Pick<PromptInput, 'sources' | 'pages'>> {
  const given = sources.filter(isPassageSource)
  const { contextWindow } = model
  const { sources: shown, pagesRead } = await condenseSources(given, { chat, question: asked, contextWindow, signal })
  return {
    sources: [...shown, ...sources.filter(isMessageSource)],
    ...(pagesRead < given.length ? { pages: { read: pagesRead, of: given.length } } : {}),
  }
}

/** Turns that the window cannot hold are summarised first, which everyone who watches is told. */
async function fit(
  { conversationId, material, draft, writer, signal, database, log }: Writing,
  input: PromptInput,
  chat: ChatModel,
): Promise<Prompt> {
  const { summary, model } = material
  let startedAt: number | undefined
  const onSummary = () => {
    startedAt = performance.now()
    writer.append({ type: 'tool', tool: { name: SUMMARY_STEP, status: 'running' } })
  }
  const options = { conversationId, provider: model.provider, chat, summary, signal, onSummary }
  const fitted = await fitPrompt(input, options, { database, log })
  draft.summaryId = fitted.summaryId
  if (fitted.omittedSources.length > 0) {
    if (draft.trace) draft.trace = markOmittedSources(draft.trace, fitted.omittedSources)
    const { length } = input.sources
    addNote(draft, `The model's window had room for ${length - fitted.omittedSources.length} of the ${length} sources.`)
  }
  if (startedAt !== undefined) {
    const durationMs = Math.round(performance.now() - startedAt)
    writer.append({ type: 'tool', tool: { name: SUMMARY_STEP, status: 'done', durationMs } })
  }
  return fitted
}
