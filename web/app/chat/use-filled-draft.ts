import { useCallback, useState } from 'react'
import type { Space } from '#web/data/current-space.ts'
import { restoreDraft, storeDraft, type DraftId } from '#web/data/drafts.ts'
import type { FilledDraft } from '#web/features/composer/composer.tsx'

type FilledDraftControl = {
  filled: FilledDraft | null
  /** Puts a text into a message box. */
  fill: (draftId: DraftId, text: string, options?: { focus: boolean }) => void
  /** Stores a text as the draft of a new conversation in the space, and puts it into the box. */
  fillNew: (text: string) => void
  /** Puts a text that could not be sent before what was typed since. */
  restore: (draftId: DraftId, text: string) => void
}

export function useFilledDraft(userId: string, space: Space): FilledDraftControl {
  const [filled, setFilled] = useState<FilledDraft | null>(null)
  const fill = useCallback<FilledDraftControl['fill']>(
    (draftId, text, { focus } = { focus: true }) =>
      setFilled((before) => ({ key: (before?.key ?? 0) + 1, draftId, text, focus })),
    [],
  )
  const restore = useCallback<FilledDraftControl['restore']>(
    (draftId, text) => fill(draftId, restoreDraft(userId, draftId, text)),
    [userId, fill],
  )
  return {
    filled,
    fill,
    fillNew: (text) => {
      storeDraft(userId, space, text)
      fill(space, text)
    },
    restore,
  }
}
