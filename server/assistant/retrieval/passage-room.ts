/** How much of a model's window passages may fill. */
import { TRACE_CHARACTERS_PER_TOKEN } from '#contract/trace.ts'

/** Small windows hold instructions, the conversation and the answer too, and tokenizers differ by a third. */
const SMALL_WINDOW_SHARE = 0.35
const LARGE_WINDOW = 200_000
const LARGE_WINDOW_FACTOR = 1.5

/** @param tokens for windows of usual size. @returns characters of Latin text */
export function passageRoom(contextWindow: number, tokens: number): number {
  const wanted = contextWindow >= LARGE_WINDOW ? tokens * LARGE_WINDOW_FACTOR : tokens
  return Math.floor(Math.min(wanted, contextWindow * SMALL_WINDOW_SHARE)) * TRACE_CHARACTERS_PER_TOKEN
}
