/** Which turns a model reads word for word, and which by their summary, so that the whole request fits its window. */
import { SENDER_ROLES } from '#contract/sender-roles.ts'
import { type Turn } from '#server/conversations/queries.ts'
import { loadCounter, tokenMargin, maxTokens, type TokenCounter } from './tokens.ts'

export interface FittedHistory {
  /** Read word for word, oldest first, ending with the question. */
  readonly verbatim: readonly Turn[]
  /** To be summarised; empty where everything fits. */
  readonly older: readonly Turn[]
  /** Only where it had to be counted. */
  readonly counter: TokenCounter | undefined
}

/** Kept free for the answer, at most: no model of today writes more at once. */
const MAX_ANSWER_TOKENS = 16_000
const ANSWER_SHARE = 0.25
/** Share of the room for history that is kept word for word once the rest is summarised: the next turns need room too. */
const VERBATIM_SHARE = 0.5
/** The question, the answer before it and the question of that: "make that shorter" needs them. As long as they fit with a summary. */
const LAST_TURNS = 3
const SUMMARY_TOKENS = 1_000

/** Models read no tool messages and no failures. */
const isReadable = ({ sender_role, has_failed, content }: Turn): boolean =>
  sender_role !== SENDER_ROLES.tool && !has_failed && content !== ''

interface FitInput {
  readonly history: readonly Turn[]
  /** Everything else that the request holds: instructions, sources, findings, the summary so far. */
  readonly otherText: string
  /** Tokens of what is no text. */
  readonly pictureTokens?: number
  readonly contextWindow: number
  readonly provider: string | undefined
}

/** Tokens of the window that are not reserved for the answer. */
export const maxPromptTokens = (contextWindow: number): number =>
  contextWindow - Math.min(MAX_ANSWER_TOKENS, Math.floor(contextWindow * ANSWER_SHARE))

/** A conversation whose bytes already fit is not counted at all, which nearly none ever needs to be. */
export async function fitHistory({
  history,
  otherText: material,
  pictureTokens = 0,
  contextWindow,
  provider,
}: FitInput): Promise<FittedHistory> {
  const readable = history.filter(isReadable)
  const room = Math.max(0, maxPromptTokens(contextWindow) - pictureTokens)
  const most = readable.reduce((sum, { content }) => sum + maxTokens(content), maxTokens(material))
  if (most * tokenMargin(provider) <= room) return { verbatim: readable, older: [], counter: undefined }

  const counter = await loadCounter(provider)
  const left = Math.max(0, room - (await counter.count(material)))
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
