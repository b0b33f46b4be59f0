/** What a tool brought back. */
import { type SearchResult } from '#server/providers/web-search.ts'
import { type ToolName } from './commands.ts'

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
  | { readonly kind: 'failure'; readonly tool: ToolName; readonly reason: string }

/** One run, as its message reports it. */
export interface ToolRun {
  readonly name: ToolName
  readonly status: 'done' | 'failed'
  readonly durationMs: number
  readonly content: string
}

export interface ToolOutcome {
  readonly run: ToolRun
  readonly finding?: Finding
}
