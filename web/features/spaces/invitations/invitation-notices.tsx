import { useQuery } from '@tanstack/react-query'
import type { JSX } from 'react'
import { receivedInvitationsQuery } from '#web/data/spaces/invitations.ts'
import { InvitationCard } from './invitation-card.tsx'
import styles from './invitation-card.module.css'

/** Invitations above the start page. */
export function InvitationNotices({ onOpenSpace }: { onOpenSpace: (space: string) => void }): JSX.Element | null {
  const { data: invitations = [] } = useQuery(receivedInvitationsQuery)
  if (invitations.length === 0) return null
  return (
    <section className={styles.page} aria-label="Invitations">
      <div className={styles.list}>
        {invitations.map((invitation) => (
          <InvitationCard key={invitation.id} invitation={invitation} onAccepted={onOpenSpace} />
        ))}
      </div>
    </section>
  )
}
