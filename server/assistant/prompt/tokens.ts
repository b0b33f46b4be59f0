/** Token counts with o200k (OpenAI since GPT-4o); a margin covers tokenizers that make up to a third more tokens. */
import { setImmediate as nextTurn } from 'node:timers/promises'

/** Tokens of a provider's own models per o200k token, rounded up. The tokenizers of compatible endpoints are unknown. */
const MARGINS: Readonly<Record<string, number>> = { OpenAI: 1, Anthropic: 1.35 }
const UNKNOWN_MARGIN = 1.3
const PER_MESSAGE = 6
/** Merging is quadratic in the length of a run without spaces, so longer runs are counted in pieces. */
const MAX_RUN_CHARACTERS = 64
/** Takes about 10 ms to count; then the event loop runs other work. */
const BATCH_CHARACTERS = 50_000

/** At least, in texts of Latin letters; `promptCharacters` measures others. */
export const LATIN_CHARACTERS_PER_TOKEN = 3

export interface TokenCounter {
  count(text: string): Promise<number>
  clip(text: string, tokens: number): Promise<string>
}

export const tokenMargin = (provider: string | undefined): number => MARGINS[provider ?? ''] ?? UNKNOWN_MARGIN

/** Upper bound without counting: every tokenizer works on UTF-8 bytes and makes at most one token of each. */
export const maxTokens = (text: string): number => Buffer.byteLength(text) + PER_MESSAGE

/** Loads the encoding, which takes half a second and about 10 MB: only for long conversations. */
export async function loadCounter(provider: string | undefined): Promise<TokenCounter> {
  const { countTokens } = await import('gpt-tokenizer/encoding/o200k_base')
  const margin = tokenMargin(provider)
  const plain = { disallowedSpecial: new Set<string>() }

  function countPiece(text: string): number {
    let tokens = 0
    let from = 0
    for (const { 0: run, index } of text.matchAll(/\S{64,}/g)) {
      tokens += countTokens(text.slice(from, index), plain)
      for (let at = 0; at < run.length; at += MAX_RUN_CHARACTERS)
        tokens += countTokens(run.slice(at, at + MAX_RUN_CHARACTERS), plain)
      from = index + run.length
    }
    return tokens + countTokens(text.slice(from), plain)
  }

  async function count(text: string): Promise<number> {
    let tokens = 0
    for (let from = 0; from < text.length; from += BATCH_CHARACTERS) {
      if (from > 0) await nextTurn()
      tokens += countPiece(text.slice(from, from + BATCH_CHARACTERS))
    }
    return Math.ceil(tokens * margin) + PER_MESSAGE
  }

  return {
    count,
    async clip(text, tokens) {
      if (maxTokens(text) * margin <= tokens) return text
      let [low, high] = [0, Math.min(text.length, tokens * MAX_RUN_CHARACTERS)]
      while (high - low > 16) {
        const middle = Math.ceil((low + high) / 2)
        if ((await count(text.slice(0, middle))) <= tokens) low = middle
        else high = middle - 1
      }
      return text.slice(0, low).toWellFormed()
    },
  }
}
