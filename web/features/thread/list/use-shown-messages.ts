import { startTransition, useState } from 'react'
import { messageKey, type ThreadMessage } from '#web/lib/messages/merge-messages.ts'

/** So many are drawn at first, and so many more at each step up: little enough for one frame. */
const FIRST = 20
const STEP = 2
/** Older ones are loaded while there are fewer than this left to draw. */
const AHEAD = 30

export type ShownMessages = {
  shown: readonly ThreadMessage[]
  /** Draws older messages above; null when there are none. */
  showEarlier: (() => void) | null
}

/**
 * The newest messages of those at hand, and more of them as the reader comes near the oldest: a page of long answers
 * drawn at once would hold up the scrolling. A message that is wanted is always among them.
 */
export function useShownMessages(
  messages: readonly ThreadMessage[],
  targetId: string | null,
  loadEarlier: (() => void) | null,
): ShownMessages {
  const [oldestKey, setOldestKey] = useState<string | null>(null)
  const known = oldestKey === null ? -1 : messages.findIndex((message) => messageKey(message) === oldestKey)
  const pinned = known === -1 ? Math.max(0, messages.length - FIRST) : known
  const target = targetId === null ? -1 : messages.findIndex(({ id }) => id === targetId)
  const from = target === -1 ? pinned : Math.min(pinned, target)
  const oldest = messages[from]
  if (oldest !== undefined && messageKey(oldest) !== oldestKey) setOldestKey(messageKey(oldest))
  return {
    shown: messages.slice(from),
    showEarlier:
      from === 0 && loadEarlier === null
        ? null
        : () => {
            if (from < AHEAD) loadEarlier?.()
            const next = messages[Math.max(0, from - STEP)]
            // Piece by piece: the scrolling goes on in between.
            if (next !== undefined) startTransition(() => setOldestKey(messageKey(next)))
          },
  }
}
