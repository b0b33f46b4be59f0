/** Answers that arrived in other spaces since this page was opened. */
import { create } from 'zustand'
import type { Space } from './current-space.ts'

const placeOf = (space: Space): string => space ?? 'personal'

export const useUnreadAnswers = create<{ counts: Readonly<Record<string, number>> }>(() => ({ counts: {} }))

export function countUnreadAnswer(space: Space): void {
  useUnreadAnswers.setState(({ counts }) => ({
    counts: { ...counts, [placeOf(space)]: (counts[placeOf(space)] ?? 0) + 1 },
  }))
}

export function clearUnreadAnswers(space: Space): void {
  useUnreadAnswers.setState(({ counts }) => ({ counts: { ...counts, [placeOf(space)]: 0 } }))
}
