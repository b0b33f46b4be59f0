import { useState, type JSX, type SubmitEvent } from 'react'
import { closeAccount } from '#web/data/account/account.ts'
import { useUser } from '#web/data/auth/auth-context.tsx'
import { clearDrafts } from '#web/data/drafts.ts'
import { deleteUnsentFiles } from '#web/data/documents/unsent-files.ts'
import { deleteRecordings } from '#web/data/recordings.ts'
import { Button } from '#web/ui/button.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { TextField } from '#web/ui/text-field.tsx'
import styles from '#web/ui/rows.module.css'
import { ErrorText } from '#web/ui/section.tsx'
import { useAttempt } from '#web/data/use-attempt.ts'

function DeleteDialog({ onClose }: { onClose: () => void }): JSX.Element {
  const { id, email } = useUser()
  const name = email === undefined || email === '' ? id : email
  const [confirmation, setConfirmation] = useState('')
  const [password, setPassword] = useState('')
  const { busy, errorMessage, run } = useAttempt()
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault()
    void run(async () => {
      await closeAccount({ confirmation, password })
      clearDrafts(id)
      deleteRecordings(id)
      deleteUnsentFiles(id)
    })
  }
  const isTyped = confirmation.trim().toLowerCase() === name.toLowerCase()
  return (
    <Dialog
      open
      onOpenChange={(open) => {
        if (!open) onClose()
      }}
      title="Delete Account"
      description="Every conversation, document, setting and key of yours is removed for good, and all your devices are signed out at once. Nobody can bring any of it back. You get a receipt."
    >
      <form className={styles.dialog} aria-label="Delete account" onSubmit={submit}>
        <TextField
          label={`To confirm, type ${name}`}
          name="confirmation"
          required
          autoFocus
          autoComplete="off"
          spellCheck={false}
          value={confirmation}
          onChange={(event) => setConfirmation(event.target.value)}
        />
        <TextField
          label="Password (leave it empty if you have none)"
          type="password"
          name="password"
          autoComplete="current-password"
          value={password}
          onChange={(event) => setPassword(event.target.value)}
        />
        <ErrorText>{errorMessage}</ErrorText>
        <div className={styles.actions}>
          <Button type="submit" variant="destructive" disabled={busy || !isTyped}>
            {busy ? 'Deleting...' : 'Delete everything'}
          </Button>
          <Button variant="ghost" onClick={onClose}>
            Cancel
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

export function DeleteAccount(): JSX.Element {
  const [isAsking, setAsking] = useState(false)
  return (
    <div className={styles.form}>
      <p className={styles.caption}>Removes you and everything of yours from this server.</p>
      <Button variant="outline" size="sm" className={styles.danger} onClick={() => setAsking(true)}>
        Delete account
      </Button>
      {isAsking && <DeleteDialog onClose={() => setAsking(false)} />}
    </div>
  )
}
