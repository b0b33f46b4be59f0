import type { ThreadMessage } from './merge-messages.ts'

/** Every answer names the summary of its prompt; the thread mentions each summary once. */
export function hideRepeatedSummaries(messages: readonly ThreadMessage[]): readonly ThreadMessage[] {
  let before: string | undefined
  return messages.map((message) => {
    const summary = message.metadata?.summary
    if (summary === undefined) return message
    const isStart = summary !== before
    before = summary
    if (isStart) return message
    const { summary: _known, ...metadata } = message.metadata ?? {}
    return { ...message, metadata }
  })
}
