import type { SpaceInvitation } from '#contract/space.ts'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { X } from 'lucide-react'
import type { JSX } from 'react'
import { invitationsQuery, withdrawInvitation } from '#web/data/spaces/invitations.ts'
import { useAttempt } from '#web/data/use-attempt.ts'
import { ROLE_WORDS } from '#web/features/spaces/role-words.ts'
import { formatDay } from '#web/lib/format/format-day.ts'
import { Button } from '#web/ui/button.tsx'
import rows from '#web/ui/rows.module.css'
import { ErrorText, Section } from '#web/ui/section.tsx'

/** Invitations that were not answered yet; nothing while there are none. */
export function OpenInvitations({ space }: { space: string }): JSX.Element | null {
  const { data: invitations = [] } = useQuery(invitationsQuery(space))
  if (invitations.length === 0) return null
  return (
    <Section title="Invited">
      <ul className={rows.list} aria-label="Invited">
        {invitations.map((invitation) => (
          <InvitationRow key={invitation.id} space={space} invitation={invitation} />
        ))}
      </ul>
    </Section>
  )
}

function InvitationRow({ space, invitation }: { space: string; invitation: SpaceInvitation }): JSX.Element {
  const queryClient = useQueryClient()
  const { busy, errorMessage, run } = useAttempt()
  return (
    <li>
      <div className={rows.row}>
        <div className={rows.words}>
          <p className={rows.value}>{invitation.email}</p>
          <p className={rows.caption}>
            {ROLE_WORDS[invitation.role].label} · open until {formatDay(invitation.expires_at)}
          </p>
        </div>
        <Button
          variant="ghost"
          size="icon"
          aria-label={`Withdraw the invitation of ${invitation.email}`}
          title="Withdraw"
          disabled={busy}
          onClick={() => void run(() => withdrawInvitation(queryClient, space, invitation.id))}
        >
          <X size={15} />
        </Button>
      </div>
      <ErrorText>{errorMessage}</ErrorText>
    </li>
  )
}
