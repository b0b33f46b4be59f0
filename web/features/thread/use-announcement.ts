import { useState } from 'react'
import { SENDER_ROLES } from '#contract/message.ts'
import type { ThreadMessage } from '#web/lib/merge-messages.ts'
import { spokenSentences } from '#web/lib/spoken-text.ts'

/** Its words without marks; an answer of nothing but code as it is. */
const spoken = (markdown: string): string => spokenSentences(markdown).join(' ') || markdown

/** The answer that has just been finished, for screen readers: once as a whole, not word by word. */
export function useAnnouncement(messages: readonly ThreadMessage[], waiting: boolean): string {
  const [state, setState] = useState({ waiting, text: '' })
  if (state.waiting !== waiting) {
    const last = messages.at(-1)
    const answered = !waiting && last?.sender_role === SENDER_ROLES.assistant
    setState({ waiting, text: answered ? (last.metadata?.error?.message ?? spoken(last.content)) : '' })
  }
  return state.text
}
