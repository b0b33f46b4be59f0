/** Room for tool results in one answer: all stay in the request until the end, so they share the model's window. */
import { escapeText } from '#server/assistant/tools/prompt-elements.ts'
import { maxPromptTokens } from './fit-history.ts'
import { loadCounter, tokenMargin, maxTokens, type TokenCounter } from './tokens.ts'

export interface FittedResult {
  readonly text: string
  readonly omission: string | null
}

export interface ResultBudget {
  /** Counts the request itself, once, before any result. @param tokens of pictures */
  reserve(request: string, tokens?: number): void
  /** Fits results one after the other, each into a share of the remaining budget. */
  fit(result: string): Promise<FittedResult>
  fitItems(items: readonly string[]): Promise<{ readonly count: number; readonly omission: string | null }>
}

const MAX_RESULT_SHARE = 0.5
const MAX_RESULT_CHARACTERS = 100_000

const inThousands = (count: number) => count.toLocaleString('en')

export function createResultBudget({
  contextWindow,
  provider,
}: {
  readonly contextWindow: number
  readonly provider: string | undefined
}): ResultBudget {
  let left = maxPromptTokens(contextWindow)
  let uncounted: string[] = []
  let counter: TokenCounter | undefined
  let turn: Promise<unknown> = Promise.resolve()

  async function inTurn<T>(run: () => Promise<T>): Promise<T> {
    const done = turn.then(run)
    turn = done.catch(() => undefined)
    return done
  }

  const upperBound = (text: string) => Math.ceil(maxTokens(text) * tokenMargin(provider))
  /** Bytes bound tokens from above, so short results are never counted. */
  async function clip(text: string): Promise<string> {
    const atLeast = left - uncounted.reduce((sum, held) => sum + upperBound(held), 0)
    if (upperBound(text) <= atLeast * MAX_RESULT_SHARE) return text
    counter ??= await loadCounter(provider)
    for (const held of uncounted) left -= await counter.count(held)
    uncounted = []
    return counter.clip(text, Math.max(0, Math.floor(left * MAX_RESULT_SHARE)))
  }

  async function fitNext(result: string): Promise<FittedResult> {
    const escaped = escapeText(result.slice(0, MAX_RESULT_CHARACTERS).toWellFormed())
    const text = (await clip(escaped)).replace(/&[a-z]{0,3}$/, '')
    uncounted.push(text)
    const shown = text.replace(/&(?:amp|lt);/g, '.').length
    const omission = `Only the first ${inThousands(shown)} of ${inThousands(result.length)} characters fit into the model's window.`
    return { text, omission: shown < result.length ? omission : null }
  }

  return {
    reserve(request, tokens = 0) {
      left -= tokens
      uncounted.push(request)
    },
    fit: (result) => inTurn(() => fitNext(result)),
    fitItems: (items) =>
      inTurn(async () => {
        for (const [count, item] of items.entries()) {
          const escaped = escapeText(item)
          if ((await clip(escaped)) !== escaped)
            return { count, omission: `Only the first ${count} of ${items.length} fit into the model's window.` }
          uncounted.push(escaped)
        }
        return { count: items.length, omission: null }
      }),
  }
}
