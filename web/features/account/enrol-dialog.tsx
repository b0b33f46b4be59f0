import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState, type JSX, type SubmitEvent } from 'react'
import { startEnrolment, finishEnrolment, type Enrolment } from '#web/data/account/account.ts'
import { Button } from '#web/ui/button.tsx'
import { CodeField } from '#web/ui/code-field.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { Spinner } from '#web/ui/spinner.tsx'
import styles from '#web/ui/rows.module.css'
import { ErrorText } from '#web/ui/section.tsx'
import { useAttempt } from '#web/data/use-attempt.ts'

type EnrolDialogProps = {
  /** Number of the new app, which names it. */
  ordinal: number
  onClose: () => void
  onVerified: () => void
}

export function EnrolDialog({ ordinal, onClose, onVerified }: EnrolDialogProps): JSX.Element {
  const queryClient = useQueryClient()
  const [enrolment, setEnrolment] = useState<Enrolment | null>(null)
  const [code, setCode] = useState('')
  const begin = useAttempt()
  const { busy, errorMessage, run } = useAttempt()
  const beginNow = begin.run

  useEffect(() => {
    let isOpen = true
    const name = `Authenticator app ${new Date().toISOString().slice(0, 19).replace('T', ' ')}`
    void beginNow(async () => {
      const begun = await startEnrolment(ordinal === 1 ? 'Authenticator app' : name)
      if (isOpen) setEnrolment(begun)
    })
    return () => {
      isOpen = false
    }
    // Once per dialog: another enrolment would invalidate the scanned code.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [])

  const submit = async (event: SubmitEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault()
    if (enrolment === null) return
    if (await run(() => finishEnrolment(queryClient, enrolment.factorId, code))) onVerified()
    else setCode('')
  }

  return (
    <Dialog
      open
      onOpenChange={(open) => {
        if (!open) onClose()
      }}
      title={ordinal === 1 ? 'Turn two-factor on' : 'Add another app'}
      description="Scan the picture with an authenticator app, then enter the six digits that the app shows."
    >
      <form className={styles.dialog} aria-label="Authenticator app" onSubmit={(event) => void submit(event)}>
        {enrolment === null && begin.errorMessage === null && <Spinner />}
        <ErrorText>{begin.errorMessage}</ErrorText>
        {enrolment !== null && (
          <>
            <img className={styles.picture} src={enrolment.qrCode} alt="QR code for an authenticator app" />
            <div>
              <p className={styles.caption}>Where you cannot scan, enter this key:</p>
              <p className={styles.secret}>{enrolment.secret}</p>
            </div>
            <CodeField label="Six-digit code" value={code} onChange={setCode} />
            <ErrorText>{errorMessage}</ErrorText>
            <div className={styles.actions}>
              <Button type="submit" disabled={busy}>
                {busy ? 'Checking...' : ordinal === 1 ? 'Turn on' : 'Add'}
              </Button>
              <Button variant="ghost" onClick={onClose}>
                Cancel
              </Button>
            </div>
          </>
        )}
      </form>
    </Dialog>
  )
}
