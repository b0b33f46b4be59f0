import { createContext, useContext } from 'react'
import type { UnverifiedClaim } from '#contract/message.ts'
import type { Source } from '#contract/source.ts'
import type { KnownAddresses } from '#web/lib/messages/known-addresses.ts'
import type { CitedSource } from '#web/lib/route-state.ts'

export type Answer = {
  /** Id of the message; absent where sources open no documents. */
  messageId?: string
  sources: ReadonlyMap<number, Source>
  numbers: ReadonlySet<number>
  /** Link targets that the answer may have: named by the person, by the thread or by its own sources. */
  addresses: KnownAddresses
  /** Quotations that are not in their source. */
  misquotes: readonly string[]
  /** Figures, dates and names that the passages cited for them do not hold. */
  unverified: readonly UnverifiedClaim[]
  pointedAt: number | null
  pointAt: (n: number | null) => void
  /** The source open in the viewer. */
  openNumber: number | null
  /** Opens the passage or message of a source; `marker` gets the focus back afterwards. */
  open: (n: number, marker: HTMLElement) => void
}

export const OpenSourceContext = createContext<CitedSource | null>(null)

export const AnswerContext = createContext<Answer | null>(null)

export function useAnswer(): Answer {
  const answer = useContext(AnswerContext)
  if (answer === null) throw new Error('useAnswer must be used within an answer')
  return answer
}
