import { useState, type JSX } from 'react'
import { closeAccount } from '#web/data/account/account.ts'
import { useUser } from '#web/data/auth/auth-context.tsx'
import { clearDrafts } from '#web/data/drafts.ts'
import { deleteUnsentFiles } from '#web/data/documents/unsent-files.ts'
import { deleteRecordings } from '#web/data/recordings.ts'
import { Button } from '#web/ui/button.tsx'
import { TextField } from '#web/ui/text-field.tsx'
import styles from '#web/ui/rows.module.css'
import { TypedConfirmation } from '#web/ui/typed-confirmation.tsx'
import { useAttempt } from '#web/data/use-attempt.ts'

function DeleteDialog({ onClose }: { onClose: () => void }): JSX.Element {
  const { id, email } = useUser()
  const [password, setPassword] = useState('')
  const { busy, errorMessage, run } = useAttempt()
  const confirm = (confirmation: string): void => {
    void run(async () => {
      await closeAccount({ confirmation, password })
      clearDrafts(id)
      deleteRecordings(id)
      deleteUnsentFiles(id)
    })
  }
  return (
    <TypedConfirmation
      title="Delete Account"
      description="Every conversation, document, setting and key of yours is removed for good, and all your devices are signed out at once. Nobody can bring any of it back. You get a receipt."
      name={email === undefined || email === '' ? id : email}
      formLabel="Delete account"
      confirmLabel="Delete everything"
      busy={busy}
      errorMessage={errorMessage}
      onConfirm={confirm}
      onClose={onClose}
    >
      <TextField
        label="Password (leave it empty if you have none)"
        type="password"
        name="password"
        autoComplete="current-password"
        value={password}
        onChange={(event) => setPassword(event.target.value)}
      />
    </TypedConfirmation>
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
