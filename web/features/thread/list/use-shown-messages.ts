import { startTransition, useState } from 'react'
import { messageKey, type ThreadMessage } from '#web/lib/messages/merge-messages.ts'

/** Messages rendered first, and per step up; few enough for one frame. */
const FIRST = 20
const STEP = 2
/** Older messages are loaded while fewer than this are left to render. */
const AHEAD = 30

export type ShownMessages = {
  shown: readonly ThreadMessage[]
  /** Renders older messages; null when there are none. */
  showEarlier: (() => void) | null
}

/** Rendering a page of long answers at once would block scrolling. The target message is always included. */
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
            // A transition, so that scrolling is not blocked.
            if (next !== undefined) startTransition(() => setOldestKey(messageKey(next)))
          },
  }
}
