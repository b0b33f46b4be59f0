import type { ReceivedInvitation } from '#contract/space.ts'
import { useQueryClient } from '@tanstack/react-query'
import type { JSX } from 'react'
import { answerInvitation } from '#web/data/spaces/invitations.ts'
import { useAttempt } from '#web/data/use-attempt.ts'
import { ROLE_WORDS, withArticle } from '#web/features/spaces/role-words.ts'
import { SpaceMark } from '#web/features/spaces/space-mark.tsx'
import { formatDay } from '#web/lib/format/format-day.ts'
import { Button } from '#web/ui/button.tsx'
import { ErrorText } from '#web/ui/section.tsx'
import { count } from '#web/lib/format/count.ts'
import styles from './invitation-card.module.css'

type InvitationCardProps = { invitation: ReceivedInvitation; onAccepted: (space: string) => void }

export function InvitationCard({ invitation, onAccepted }: InvitationCardProps): JSX.Element {
  const queryClient = useQueryClient()
  const { busy, errorMessage, run } = useAttempt()
  const { space_name: name, role, invited_by: inviter } = invitation
  const accept = async (): Promise<void> => {
    if (await run(() => answerInvitation(queryClient, invitation, 'accept'))) onAccepted(invitation.space_id)
  }
  return (
    <article className={styles.card} aria-label={`Invitation to ${name}`}>
      <p className={styles.lead}>
        <strong>{inviter ?? 'A former member'}</strong> invites you to a space
      </p>
      <h3 className={styles.name} dir="auto">
        <SpaceMark color={invitation.color} /> {name}
      </h3>
      <p className={styles.facts}>
        {count(invitation.documents, 'document', 'documents')} · {count(invitation.members, 'member', 'members')} · open
        until {formatDay(invitation.expires_at)}
      </p>
      <p className={styles.facts}>
        As {withArticle(role)}, you {ROLE_WORDS[role].you}.
      </p>
      <ErrorText>{errorMessage}</ErrorText>
      <div className={styles.actions}>
        <Button size="sm" disabled={busy} onClick={() => void accept()}>
          Join {name}
        </Button>
        <Button
          variant="ghost"
          size="sm"
          disabled={busy}
          onClick={() => void run(() => answerInvitation(queryClient, invitation, 'decline'))}
        >
          Decline
        </Button>
      </div>
    </article>
  )
}
