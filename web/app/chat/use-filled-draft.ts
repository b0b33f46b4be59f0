import { useCallback, useState } from 'react'
import { restoreDraft, storeDraft } from '#web/data/drafts.ts'
import type { FilledDraft } from '#web/features/composer/composer.tsx'

type FilledDraftControl = {
  filled: FilledDraft | null
  /** Puts a text into the message box of a conversation (null: the new one). */
  fill: (conversationId: string | null, text: string, options?: { focus: boolean }) => void
  /** Stores a text as the draft of the new conversation, and puts it into the box. */
  fillNew: (text: string) => void
  /** Puts a text that could not be sent before what was typed since. */
  restore: (conversationId: string | null, text: string) => void
}

export function useFilledDraft(userId: string): FilledDraftControl {
  const [filled, setFilled] = useState<FilledDraft | null>(null)
  const fill = useCallback<FilledDraftControl['fill']>(
    (conversationId, text, { focus } = { focus: true }) =>
      setFilled((before) => ({ key: (before?.key ?? 0) + 1, conversationId, text, focus })),
    [],
  )
  const restore = useCallback<FilledDraftControl['restore']>(
    (conversationId, text) => fill(conversationId, restoreDraft(userId, conversationId, text)),
    [userId, fill],
  )
  return {
    filled,
    fill,
    fillNew: (text) => {
      storeDraft(userId, null, text)
      fill(null, text)
    },
    restore,
  }
}
