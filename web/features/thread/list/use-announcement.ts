import { useEffect, useState } from 'react'
import { SENDER_ROLES } from '#contract/sender-roles.ts'
import { spokenLines } from '#web/lib/markdown/spoken-text.ts'
import type { ThreadMessage } from '#web/lib/messages/merge-messages.ts'

/** Text without Markdown marks; an answer of code alone stays as it is. */
const spoken = (markdown: string): string => spokenLines(markdown).join(' ') || markdown

/** The answer that has just finished, for screen readers: once as a whole, not word by word. */
export function useAnnouncement(messages: readonly ThreadMessage[], waiting: boolean): string {
  const [state, setState] = useState<{ waiting: boolean; answer: ThreadMessage | null }>({ waiting, answer: null })
  const [text, setText] = useState('')
  if (state.waiting !== waiting) {
    const last = messages.at(-1)
    setState({ waiting, answer: !waiting && last?.sender_role === SENDER_ROLES.assistant ? last : null })
  }
  const { answer } = state
  // After painting, so that the announcement does not delay the drawing.
  useEffect(() => {
    const timer = setTimeout(() =>
      setText(answer === null ? '' : (answer.metadata?.error?.message ?? spoken(answer.content))),
    )
    return () => clearTimeout(timer)
  }, [answer])
  return text
}
