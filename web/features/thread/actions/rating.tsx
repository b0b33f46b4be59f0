import { useQuery, useQueryClient } from '@tanstack/react-query'
import { ThumbsDown, ThumbsUp } from 'lucide-react'
import { useId, useState, type JSX } from 'react'
import { useUser } from '#web/data/auth/auth-context.tsx'
import { feedbackQuery, setFeedback, type Feedback, type RatedAnswer, type Rating } from '#web/data/feedback.ts'
import { SHORTCUTS } from '#web/lib/shortcuts.ts'
import { Button } from '#web/ui/button.tsx'
import { Popover } from '#web/ui/popover.tsx'
import { describeFailure } from '#web/data/load-refusal.ts'
import { toast } from '#web/ui/toast.tsx'
import { Tooltip } from '#web/ui/tooltip.tsx'
import styles from './rating.module.css'

const LONGEST_REASON = 2000

function ReasonForm({ given, onSave }: { given: string; onSave: (reason: string) => void }): JSX.Element {
  const [reason, setReason] = useState(given)
  const id = useId()
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault()
        onSave(reason.trim())
      }}
    >
      <label htmlFor={id}>What was wrong with it? (optional)</label>
      <textarea
        id={id}
        className={styles.reason}
        rows={3}
        maxLength={LONGEST_REASON}
        value={reason}
        onChange={(event) => setReason(event.target.value)}
        onKeyDown={(event) => {
          if (SHORTCUTS.submit.matches(event)) onSave(reason.trim())
        }}
      />
      <Button type="submit" size="sm" className={styles.save}>
        Save
      </Button>
    </form>
  )
}

/** Thumbs up and down. Pressing the chosen thumb again withdraws the rating; thumbs down asks for a reason. */
export function AnswerRating({ rated }: { rated: RatedAnswer }): JSX.Element {
  const queryClient = useQueryClient()
  const user = useUser()
  const { data: feedback = null } = useQuery(feedbackQuery(rated))
  const [asking, setAsking] = useState(false)

  const give = (next: Feedback | null): void => {
    setFeedback(queryClient, user.id, rated, next).catch(async (error: unknown) =>
      toast(await describeFailure(error, 'Your rating could not be saved. Please try again.')),
    )
  }
  const press = (rating: Rating): void => {
    const takesBack = feedback?.rating === rating
    give(takesBack ? null : { rating, reason: null })
    setAsking(rating === -1 && !takesBack)
  }
  const saveReason = (reason: string): void => {
    setAsking(false)
    if (feedback?.rating === -1) give({ rating: -1, reason: reason === '' ? null : reason })
  }
  return (
    <>
      <Tooltip content="Good answer">
        <Button
          variant="ghost"
          size="icon"
          aria-label="Good answer"
          aria-pressed={feedback?.rating === 1}
          onClick={() => press(1)}
        >
          <ThumbsUp size={15} />
        </Button>
      </Tooltip>
      <Popover
        open={asking}
        onOpenChange={setAsking}
        label="Why was this a poor answer?"
        anchor={
          <span>
            <Tooltip content="Poor answer">
              <Button
                variant="ghost"
                size="icon"
                aria-label="Poor answer"
                aria-pressed={feedback?.rating === -1}
                onClick={() => press(-1)}
              >
                <ThumbsDown size={15} />
              </Button>
            </Tooltip>
          </span>
        }
      >
        <ReasonForm given={feedback?.reason ?? ''} onSave={saveReason} />
      </Popover>
    </>
  )
}
