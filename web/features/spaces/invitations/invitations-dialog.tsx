import { useQuery } from '@tanstack/react-query'
import type { JSX } from 'react'
import { receivedInvitationsQuery } from '#web/data/spaces/invitations.ts'
import { Dialog } from '#web/ui/dialog.tsx'
import { InvitationCard } from './invitation-card.tsx'
import styles from './invitation-card.module.css'

type InvitationsDialogProps = {
  open: boolean
  onOpenChange: (open: boolean) => void
  onOpenSpace: (space: string) => void
}

export function InvitationsDialog({ open, onOpenChange, onOpenSpace }: InvitationsDialogProps): JSX.Element {
  const { data: invitations = [] } = useQuery(receivedInvitationsQuery)
  return (
    <Dialog
      open={open && invitations.length > 0}
      onOpenChange={onOpenChange}
      title="Invitations"
      description="A space has its own documents and conversations. What is yours alone stays in Personal."
    >
      <div className={styles.list}>
        {invitations.map((invitation) => (
          <InvitationCard
            key={invitation.id}
            invitation={invitation}
            onAccepted={(space) => {
              onOpenChange(false)
              onOpenSpace(space)
            }}
          />
        ))}
      </div>
    </Dialog>
  )
}
