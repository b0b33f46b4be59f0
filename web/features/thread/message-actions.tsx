import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Check, Copy, ThumbsDown, ThumbsUp } from 'lucide-react'
import type { JSX } from 'react'
import { useUser } from '#web/data/auth-context.tsx'
import { feedbackQuery, rateMessage, type Rating } from '#web/data/feedback.ts'
import { Button } from '#web/ui/button.tsx'
import { Tooltip } from '#web/ui/tooltip.tsx'
import { useCopy } from './use-copy.ts'
import styles from './message.module.css'

/** Thumbs up, thumbs down and copy. Pressing a chosen thumb again takes the rating back. */
export function MessageActions({ messageId, text }: { messageId: string; text: string }): JSX.Element {
  const queryClient = useQueryClient()
  const user = useUser()
  const { data: rating = null } = useQuery(feedbackQuery(messageId))
  const { copied, copy } = useCopy(text)
  const rate = (pressed: Rating): void => {
    rateMessage(queryClient, user.id, messageId, rating === pressed ? null : pressed).catch((error: unknown) =>
      console.error(error),
    )
  }
  return (
    <div className={styles.actions}>
      <Tooltip content="Good answer">
        <Button
          variant="ghost"
          size="icon"
          aria-label="Good answer"
          aria-pressed={rating === 1}
          onClick={() => rate(1)}
        >
          <ThumbsUp size={15} />
        </Button>
      </Tooltip>
      <Tooltip content="Poor answer">
        <Button
          variant="ghost"
          size="icon"
          aria-label="Poor answer"
          aria-pressed={rating === -1}
          onClick={() => rate(-1)}
        >
          <ThumbsDown size={15} />
        </Button>
      </Tooltip>
      <Tooltip content={copied ? 'Copied' : 'Copy'}>
        <Button variant="ghost" size="icon" aria-label={copied ? 'Copied' : 'Copy answer'} onClick={copy}>
          {copied ? <Check size={15} /> : <Copy size={15} />}
        </Button>
      </Tooltip>
    </div>
  )
}
