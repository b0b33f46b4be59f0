import { SUMMARY_STEP } from '#contract/reply-events.ts'
import { isMessageSource, isPassageSource } from '#contract/source.ts'
import type { Spent } from '#server/assistant/lease/claimed-reply.ts'
import { admitAnswer, chargeOf, countShortRequests, estimateTokens } from '#server/assistant/lease/spending.ts'
import { withToolRuns } from '#server/assistant/prompt/earlier-runs.ts'
import { fitPrompt, pictureTokensOf, requestText } from '#server/assistant/prompt/fit-prompt.ts'
import { fitTools } from '#server/assistant/prompt/fit-tools.ts'
import type { Prompt, PromptInput } from '#server/assistant/prompt/prompt.ts'
import { createResultBudget, type ResultBudget } from '#server/assistant/prompt/result-budget.ts'
import { condenseSources } from '#server/assistant/retrieval/whole-document.ts'
import { createMcpTools } from '#server/assistant/tool-calls/mcp-tools.ts'
import { createToolDefinitions } from '#server/assistant/tool-calls/tool-definitions.ts'
import type { ChatModel, ChatTool, EmitPart } from '#server/providers/chat.ts'
import type { Attempt } from './attempt.ts'
import type { ReplyContext } from './context.ts'
import type { ReplyDependencies } from './dependencies.ts'
import type { LoadedContext } from './load-context.ts'
import type { CommandResults } from './run-commands.ts'
import { markOmittedSources } from './trace-cuts.ts'

export interface AnswerStream {
  readonly start: (emit: EmitPart) => Promise<void>
  readonly summaryId: string | undefined
  /** Charge for used tokens; undefined where no model is asked. */
  readonly charge?: (tokens: { readonly in: number; readonly out: number }) => Spent
  /** Estimate, for answers that end before their provider tells. */
  readonly tokensIn?: number
}

/** @throws ProviderError, a database error, or the reason of an aborted signal. */
export async function prepareModelStream(
  attempt: Attempt,
  loaded: LoadedContext,
  commands: CommandResults,
  dependencies: ReplyDependencies,
): Promise<AnswerStream> {
  const { writer, signal } = attempt
  const { context, trace, providers } = loaded
  const { model } = context
  const charged = {
    identifier: model.identifier,
    isPersonal: providers.isPersonal(model.provider, model.identifier),
    contextWindow: model.contextWindow,
  }
  const { database, usageLimits } = dependencies
  const chat = countShortRequests(providers.chatModel(model.provider, model.identifier), {
    database,
    reply: attempt.reply,
    charged,
    limits: usageLimits,
  })
  const budget = createResultBudget(model)
  const allTools = createTools(attempt, loaded, commands, { ...dependencies, budget })
  const { fitting: tools, omitted: omittedTools } = await fitTools(allTools, model)
  if (omittedTools.length > 0)
    trace.addNote(`The model's window had room for ${tools.length} of the ${allTools.length} tools.`)
  const isWhole = context.trace?.scope === 'whole'
  const { sources, pages }: Pick<PromptInput, 'sources' | 'pages'> = isWhole
    ? await condenseDocuments(context, chat, signal)
    : { sources: context.sources }
  const input: PromptInput = {
    history: withToolRuns(context.history),
    unfinished: context.unfinished.text,
    sources,
    pages,
    unreadDocuments: context.unread.count,
    missingDocumentNotes: context.missingDocumentNotes,
    libraryFacts: context.libraryFacts,
    spaceInstructions: context.instructions,
    findings: commands.findings,
    numberOf: commands.sourceList.numberOf,
    tools,
    omittedTools,
    pictures: context.pictures,
    contextWindow: model.contextWindow,
  }
  const { summaryId, ...prompt } = await fitToWindow(input, chat, attempt, loaded, dependencies)
  const text = requestText(prompt, input)
  budget.reserve(text, pictureTokensOf(input))
  const tokensIn = estimateTokens(text) + pictureTokensOf(input)
  const maxOutputTokens = await admitAnswer(database, attempt.reply, charged, tokensIn, usageLimits)
  // Database failures are retried when the answer is stored.
  const onPause = () => writer.flushed().catch(() => undefined)
  const { system, turns } = prompt
  return {
    start: (emit) => chat.stream({ system, turns, tools, maxOutputTokens, signal, onPause }, emit),
    summaryId,
    charge: (tokens) => chargeOf(charged, tokens, usageLimits?.priceOf),
    tokensIn,
  }
}

function createTools(
  { reply, writer, read, onClose }: Attempt,
  { context, servers, embedder }: LoadedContext,
  { sourceList, toolRuns }: CommandResults,
  { externalTools, toolServers, budget }: ReplyDependencies & { readonly budget: ResultBudget },
): ChatTool[] {
  const { history, turnsInPrompt } = context
  const { record } = toolRuns
  const mcpTools = createMcpTools({
    reply,
    servers,
    consents: toolServers.consents,
    record,
    budget,
    showConsentRequest: (run, name, request) =>
      writer.append({
        type: 'tool',
        tool: { name, status: request ? 'asking' : 'running', run, ...(request ? { request } : {}) },
      }),
  })
  onClose(() => mcpTools.close())
  const ownTools = createToolDefinitions({
    history,
    sources: sourceList,
    turnsInPrompt,
    externalTools,
    read,
    record,
    budget,
    embedder,
  })
  return [...ownTools, ...mcpTools.tools]
}

async function condenseDocuments(
  { sources, query, model, trace }: ReplyContext,
  chat: ChatModel,
  signal: AbortSignal,
): Promise<Pick<PromptInput, 'sources' | 'pages'>> {
  const pages = sources.filter(isPassageSource)
  const { contextWindow } = model
  const condensed = await condenseSources(pages, { chat, question: query, contextWindow, signal })
  const beyondReading = trace?.pages ? trace.pages.of - trace.pages.read : 0
  return {
    sources: [...condensed.sources, ...sources.filter(isMessageSource)],
    pages: { read: condensed.pagesRead, of: pages.length + beyondReading },
  }
}

async function fitToWindow(
  input: PromptInput,
  chat: ChatModel,
  { reply, writer, signal }: Attempt,
  { context, trace }: LoadedContext,
  { database, log }: ReplyDependencies,
): Promise<Prompt & { readonly summaryId: string | undefined }> {
  let startedAt: number | undefined
  const onSummary = () => {
    startedAt = performance.now()
    writer.append({ type: 'tool', tool: { name: SUMMARY_STEP, status: 'running' } })
  }
  const { summary, model } = context
  const { conversationId } = reply
  const options = { conversationId, provider: model.provider, chat, summary, signal, onSummary }
  const { omittedSources, pages, ...prompt } = await fitPrompt(input, options, { database, log })
  if (omittedSources.length > 0) {
    trace.amend((amended) => markOmittedSources(amended, omittedSources))
    const { length } = input.sources
    if (!pages || pages.read.length === pages.of)
      trace.addNote(`The model's window had room for ${length - omittedSources.length} of the ${length} sources.`)
  }
  if (pages && pages.read.length < pages.of) {
    const [read, { of }] = [pages.read.length, pages]
    trace.addNote(`Only the first ${read} of ${of} pages were read.`)
    trace.amend((amended) => ({ ...amended, pages: { read, of } }))
  }
  if (startedAt !== undefined) {
    const durationMs = Math.round(performance.now() - startedAt)
    writer.append({ type: 'tool', tool: { name: SUMMARY_STEP, status: 'done', durationMs } })
  }
  return prompt
}
