import { isMessageSource, isPassageSource, type Source } from '#contract/source.ts'
import type { RetrievalTrace } from '#contract/trace.ts'

/** Marks passages that the prompt had no room for, and those joined to them. Pure. */
export function markOmittedSources(trace: RetrievalTrace, leftOut: readonly Source[]): RetrievalTrace {
  const passages = leftOut.filter(isPassageSource)
  const messages = new Set(leftOut.filter(isMessageSource).map(({ messageId }) => messageId))
  return {
    ...trace,
    considered: trace.considered.map((considered) => {
      const { documentId, page, start, end, cut } = considered
      const isLeftOut =
        (cut === null || cut === 'joined') &&
        passages.some(
          (source) =>
            source.documentId === documentId && source.page === page && source.start <= start && end <= source.end,
        )
      return isLeftOut ? { ...considered, cut: 'room' } : considered
    }),
    ...(trace.messages && {
      messages: trace.messages.map((message) =>
        message.cut === null && messages.has(message.messageId) ? { ...message, cut: 'room' } : message,
      ),
    }),
  }
}
