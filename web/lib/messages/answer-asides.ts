import type { MessageRow } from '#contract/message.ts'
import { ANSWER_NOTES } from './answer-notes.ts'

/** The sentences below an answer, on paper and in files: why it is missing, unfinished or without support. */
export function answerAsides(metadata: MessageRow['metadata']): string[] {
  return [
    metadata?.error?.message,
    metadata?.stopped === true ? ANSWER_NOTES.stopped : undefined,
    metadata?.cut === true ? ANSWER_NOTES.cut : undefined,
    metadata?.unsupported === true ? 'Nothing in your documents supports this answer.' : undefined,
  ].filter((sentence) => sentence !== undefined)
}
