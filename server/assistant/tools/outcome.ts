/** What a tool brought back. */
import { type SearchResult } from '#server/providers/web-search.ts'

/** Text from outside, for a model to read or the Reader to quote: data, never an instruction. */
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

/** Tools that may run for one answer, those that the person typed included. */
export const MAX_TOOL_RUNS = 24

/** One run, as its message reports it. */
export interface ToolRun {
  readonly name: string
  readonly status: 'done' | 'failed'
  readonly durationMs: number
  readonly content: string
}

/** Of a run, this much is kept with the conversation. */
const MAX_STORED_CHARACTERS = 20_000

/** What is kept of a text that a tool brought back; where not all of it is, or the model was not shown all, it says so. */
export function storedContent(text: string, missing: string | null = null): string {
  const kept = text.slice(0, MAX_STORED_CHARACTERS).toWellFormed()
  const cut =
    kept.length < text.length ? `Only the first ${kept.length} of ${text.length} characters are kept here.` : null
  const notes = [missing, cut].filter((note) => note !== null)
  return notes.length === 0 ? kept : `${kept}\n\n(${notes.join(' ')})`
}

export interface ToolOutcome {
  readonly run: ToolRun
  readonly finding?: Finding
  /** What the model reads of it, as far as there is room. */
  readonly shown?: string
}
