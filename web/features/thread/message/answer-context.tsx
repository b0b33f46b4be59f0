import { createContext, useContext } from 'react'
import type { Source } from '#contract/source.ts'
import type { CitedSource } from '#web/lib/route-state.ts'

/** What the parts of one answer share: its sources, the one that is pointed at, and how a source is opened. */
export type Answer = {
  sources: ReadonlyMap<number, Source>
  numbers: ReadonlySet<number>
  /** Quotations that their source does not hold. */
  misquotes: readonly string[]
  pointedAt: number | null
  pointAt: (n: number | null) => void
  /** The source that stands open beside the conversation. */
  openNumber: number | null
  /** Opens the passage or the message of a source; `marker` is the element that gets the focus back. */
  open: (n: number, marker: HTMLElement) => void
}

/** The source of an answer that stands open beside the conversation. */
export const OpenSourceContext = createContext<CitedSource | null>(null)

export const AnswerContext = createContext<Answer | null>(null)

export function useAnswer(): Answer {
  const answer = useContext(AnswerContext)
  if (answer === null) throw new Error('useAnswer must be used within an answer')
  return answer
}
