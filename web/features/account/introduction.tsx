import { useQueryClient } from '@tanstack/react-query'
import type { JSX } from 'react'
import { useUser } from '#web/data/auth/auth-context.tsx'
import { changeAccountSettings } from '#web/data/settings.ts'
import { Button } from '#web/ui/button.tsx'
import { toast } from '#web/ui/toast.tsx'
import styles from '#web/ui/rows.module.css'
import { ErrorText } from '#web/ui/section.tsx'
import { useAttempt } from '#web/data/use-attempt.ts'

/** Restarts the onboarding. Finished steps stay finished, except the walk-through. */
export function Introduction({ onReset }: { onReset: () => void }): JSX.Element {
  const queryClient = useQueryClient()
  const { id } = useUser()
  const { busy, errorMessage, run } = useAttempt()
  const reset = async (): Promise<void> => {
    await changeAccountSettings(queryClient, id, { onboarding_dismissed: false, walkthrough_finished: false })
    onReset()
    toast({ title: 'Introduction', description: 'It is shown again on the start page.' })
  }
  return (
    <>
      <Button variant="outline" size="sm" className={styles.start} disabled={busy} onClick={() => void run(reset)}>
        Show the introduction again
      </Button>
      <ErrorText>{errorMessage}</ErrorText>
    </>
  )
}
