import { useQueryClient } from '@tanstack/react-query'
import { useState, type JSX } from 'react'
import { removeMember } from '#web/data/spaces/members.ts'
import type { OwnSpace } from '#web/data/spaces/spaces.ts'
import { useAttempt } from '#web/data/use-attempt.ts'
import { Button } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/dialog.tsx'
import rows from '#web/ui/rows.module.css'
import { ErrorText } from '#web/ui/section.tsx'

type LeaveSpaceProps = { space: OwnSpace; userId: string; isSoleOwner: boolean }

export function LeaveSpace({ space, userId, isSoleOwner }: LeaveSpaceProps): JSX.Element {
  const queryClient = useQueryClient()
  const [isAsking, setAsking] = useState(false)
  const { busy, errorMessage, run } = useAttempt()
  if (isSoleOwner)
    return <p className={rows.caption}>A space needs an owner: hand it over before you leave, or delete it.</p>
  return (
    <div className={rows.form}>
      <Button variant="outline" size="sm" className={rows.start} disabled={busy} onClick={() => setAsking(true)}>
        Leave this space
      </Button>
      <ErrorText>{errorMessage}</ErrorText>
      <ConfirmDialog
        open={isAsking}
        onOpenChange={setAsking}
        title={`Leave ${space.name}`}
        description="You no longer see its documents and conversations, also not your own ones in it. An owner can invite you again."
        confirmLabel="Leave"
        onConfirm={() => void run(() => removeMember(queryClient, space.id, userId))}
      />
    </div>
  )
}
