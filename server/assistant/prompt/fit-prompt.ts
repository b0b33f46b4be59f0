import type { Source } from '#contract/source.ts'
import type { Log } from '#server/base/log.ts'
import { storeSummary, type StoredSummary } from '#server/conversations/summary-queries.ts'
import type { Database } from '#server/database/scope.ts'
import type { ChatModel } from '#server/providers/chat.ts'
import { ProviderError } from '#server/providers/provider-error.ts'
import { fitHistory, maxPromptTokens } from './fit-history.ts'
import { describeTool } from './fit-tools.ts'
import { buildPrompt, type Prompt, type PromptInput } from './prompt.ts'
import { summarise } from './summary.ts'
import { tokenMargin, type TokenCounter } from './tokens.ts'

export interface FittedPrompt extends Prompt {
  readonly summaryId: string | undefined
  readonly omittedSources: readonly Source[]
  /** Those that are left of the input. */
  readonly pages: PromptInput['pages']
}

interface FitOptions {
  readonly conversationId: string
  readonly provider: string | undefined
  readonly chat: ChatModel
  readonly summary: StoredSummary | undefined
  readonly signal: AbortSignal
  readonly onSummary: () => void
}

/** Maximum share of the window for instructions, passages and findings; the conversation needs the rest. */
const MAX_SYSTEM_SHARE = 0.6
const MIN_SCALE = 1 / 16

async function shrinkInput(input: PromptInput, counter: TokenCounter, room: number): Promise<PromptInput> {
  const { sources, pages, contextWindow } = input
  for (let scale = 1; ; scale /= 2) {
    const length = Math.ceil(sources.length * scale)
    const firstOmitted = sources[length]?.n ?? Infinity
    const smaller = {
      ...input,
      sources: sources.slice(0, length),
      pages: pages && { ...pages, read: pages.read.filter((n) => n < firstOmitted) },
      contextWindow: contextWindow * scale,
    }
    const tokens = await counter.count(buildPrompt({ ...smaller, history: [] }).system)
    if (tokens <= room || scale <= MIN_SCALE) return smaller
  }
}

const describeTools = ({ tools = [] }: Pick<PromptInput, 'tools'>): string => tools.map(describeTool).join('\n')

export const pictureTokensOf = ({ pictures = [] }: Pick<PromptInput, 'pictures'>): number =>
  pictures.reduce((sum, { tokens }) => sum + tokens, 0)

export const requestText = ({ system, turns }: Prompt, input: Pick<PromptInput, 'tools'>): string =>
  [system, describeTools(input), ...turns.map(({ content }) => content)].join('\n')

/** Some servers silently cut off the beginning of a long request, including the instructions. */
function rejectTooLong(tokens: number, contextWindow: number): void {
  const inFigures = (count: number) => Math.round(count).toLocaleString('en')
  if (tokens > maxPromptTokens(contextWindow))
    throw new ProviderError(
      'question_too_long',
      `Your message is too long for this model: it takes about ${inFigures(tokens)} tokens, and with the answer there is room for ${inFigures(contextWindow)}. Shorten it, upload it as a document, or choose another model.`,
      { retryable: false },
    )
}

/** @throws ProviderError where not even the question fits, a database error, or the reason of an aborted signal. */
export async function fitPrompt(
  input: PromptInput,
  { conversationId, provider, chat, summary, signal, onSummary }: FitOptions,
  { database, log }: { database: Database; log: Log },
): Promise<FittedPrompt> {
  const { history, contextWindow } = input
  const whole = { ...input, summary: summary?.content ?? '' }
  const prompt = buildPrompt(whole)
  const otherText = prompt.system + (input.unfinished ?? '') + describeTools(input)
  const fit = await fitHistory({
    history,
    otherText,
    pictureTokens: pictureTokensOf(input),
    contextWindow,
    provider,
  })
  if (!fit.counter) return { ...prompt, summaryId: summary?.id, omittedSources: [], pages: input.pages }

  const asked = await fit.counter.count(fit.verbatim.at(-1)?.content ?? '')
  rejectTooLong(asked / tokenMargin(provider), contextWindow)
  const room = Math.min(contextWindow * MAX_SYSTEM_SHARE, maxPromptTokens(contextWindow) - asked)
  const smaller = await shrinkInput(whole, fit.counter, room)
  const leftOut = input.sources.slice(smaller.sources.length)
  const fitted = { omittedSources: leftOut, pages: smaller.pages }
  const last = fit.older.at(-1)
  if (!last) return { ...buildPrompt({ ...smaller, history: fit.verbatim }), summaryId: summary?.id, ...fitted }
  onSummary()
  const before = summary?.content ?? ''
  const { counter, older: turns } = fit
  const written = await summarise({ previousSummary: before, turns, chat, contextWindow, counter, signal, log })
  const summaryId = await database.asService((scope) =>
    storeSummary(scope, { conversationId, throughPosition: last.position, ...written }),
  )
  return {
    ...buildPrompt({ ...smaller, summary: written.content, history: fit.verbatim }),
    summaryId,
    ...fitted,
  }
}
