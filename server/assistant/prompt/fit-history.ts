import type { Turn } from '#server/conversations/queries.ts'
import { isSentToModel } from './prompt.ts'
import { loadCounter, tokenMargin, maxTokens, type TokenCounter } from './tokens.ts'

export interface FittedHistory {
  readonly verbatim: readonly Turn[]
  readonly older: readonly Turn[]
  readonly counter: TokenCounter | undefined
}

/** Maximum reserve for the answer; no current model writes more at once. */
const MAX_ANSWER_TOKENS = 16_000
const ANSWER_SHARE = 0.25
/** Share of the room for history that stays verbatim once older turns are summarised; the next turns need the rest. */
const VERBATIM_SHARE = 0.5
/** The question and the exchange before it ("make that shorter" needs them) stay verbatim if they fit with a summary. */
const LAST_TURNS = 3
const SUMMARY_TOKENS = 1_000

interface FitInput {
  readonly history: readonly Turn[]
  readonly otherText: string
  readonly pictureTokens?: number
  readonly contextWindow: number
  readonly provider: string | undefined
}

export const maxPromptTokens = (contextWindow: number): number =>
  contextWindow - Math.min(MAX_ANSWER_TOKENS, Math.floor(contextWindow * ANSWER_SHARE))

/** Counts no tokens where the bytes already fit, as in nearly every conversation. */
export async function fitHistory({
  history,
  otherText,
  pictureTokens = 0,
  contextWindow,
  provider,
}: FitInput): Promise<FittedHistory> {
  const readable = history.filter(isSentToModel)
  const room = Math.max(0, maxPromptTokens(contextWindow) - pictureTokens)
  const most = readable.reduce((sum, { content }) => sum + maxTokens(content), maxTokens(otherText))
  if (most * tokenMargin(provider) <= room) return { verbatim: readable, older: [], counter: undefined }

  const counter = await loadCounter(provider)
  const left = Math.max(0, room - (await counter.count(otherText)))
  const besideSummary = Math.max(0, left - SUMMARY_TOKENS)
  let tokens = 0
  let firstVerbatim = readable.length
  for (const [index, { content }] of [...readable.entries()].toReversed()) {
    tokens += await counter.count(content)
    if (tokens > left) break
    const isLast = index >= readable.length - LAST_TURNS
    if (tokens <= (isLast ? besideSummary : besideSummary * VERBATIM_SHARE)) firstVerbatim = index
    if (index === 0) return { verbatim: readable, older: [], counter }
  }
  const from = Math.min(firstVerbatim, readable.length - 1)
  return { verbatim: readable.slice(from), older: readable.slice(0, from), counter }
}
