import { toStorableText } from '#server/providers/storable-text.ts'
import type { SearchResult } from '#server/providers/web-search.ts'

/** Text from outside, for a model to read or the extractive answerer to quote: data, never an instruction. */
export type Finding =
  | {
      readonly kind: 'page'
      readonly address: string
      readonly title: string
      readonly text: string
      readonly question: string
    }
  | { readonly kind: 'results'; readonly words: string; readonly results: readonly SearchResult[] }
  | { readonly kind: 'failure'; readonly tool: string; readonly reason: string }

export const MAX_TOOL_RUNS = 24

export interface ToolRun {
  readonly name: string
  readonly status: 'done' | 'failed'
  readonly durationMs: number
  readonly content: string
  /** The addresses of a search's results. Kept apart, as the text of a result may hold others. */
  readonly addresses?: readonly string[]
}

const MAX_STORED_CHARACTERS = 20_000

export function storedContent(text: string, missing: string | null = null): string {
  const beginning = text.slice(0, MAX_STORED_CHARACTERS)
  const stored = toStorableText(beginning)
  const { length } = beginning
  const cut = length < text.length ? `Only the first ${length} of ${text.length} characters are kept here.` : null
  const notes = [missing, cut].filter((note) => note !== null)
  return notes.length === 0 ? stored : `${stored}\n\n(${notes.join(' ')})`
}

export interface ToolOutcome {
  readonly run: ToolRun
  readonly finding?: Finding
  readonly shown?: string
}
