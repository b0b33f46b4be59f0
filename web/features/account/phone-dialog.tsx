import { useQueryClient } from '@tanstack/react-query'
import { useState, type JSX, type SubmitEvent } from 'react'
import { startPhoneEnrolment, finishPhoneEnrolment } from '#web/data/account/account.ts'
import { sendPhoneCode } from '#web/data/auth/sign-in.ts'
import { Button } from '#web/ui/button.tsx'
import { CodeField } from '#web/ui/code-field.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { TextField } from '#web/ui/text-field.tsx'
import styles from '#web/ui/rows.module.css'
import { ErrorText } from '#web/ui/section.tsx'
import { useAttempt } from '#web/data/use-attempt.ts'

type Begun = { factorId: string; challengeId: string }

export function PhoneDialog({ onClose, onVerified }: { onClose: () => void; onVerified: () => void }): JSX.Element {
  const queryClient = useQueryClient()
  const [phone, setPhone] = useState('')
  const [begun, setBegun] = useState<Begun | null>(null)
  const [code, setCode] = useState('')
  const { busy, errorMessage, run } = useAttempt()

  const submit = async (event: SubmitEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault()
    if (begun === null) await run(async () => setBegun(await startPhoneEnrolment(phone)))
    else if (await run(() => finishPhoneEnrolment(queryClient, { ...begun, code }))) onVerified()
    else setCode('')
  }
  const resendCode = (factorId: string): Promise<boolean> =>
    run(async () => setBegun({ factorId, challengeId: await sendPhoneCode(factorId) }))

  return (
    <Dialog
      open
      onOpenChange={(open) => {
        if (!open) onClose()
      }}
      title="Add a phone"
      description="A text message with six digits is sent to it, now and whenever you choose it at sign-in."
    >
      <form className={styles.dialog} aria-label="Phone" onSubmit={(event) => void submit(event)}>
        {begun === null ? (
          <TextField
            key="phone"
            label="Phone number with country code"
            name="phone"
            type="tel"
            required
            autoFocus
            autoComplete="tel"
            placeholder="+49 171 1234567"
            value={phone}
            onChange={(event) => setPhone(event.target.value)}
          />
        ) : (
          <CodeField key="code" label="Six-digit code" value={code} onChange={setCode} />
        )}
        <ErrorText>{errorMessage}</ErrorText>
        <div className={styles.actions}>
          <Button type="submit" disabled={busy}>
            {begun === null ? 'Send the code' : 'Add'}
          </Button>
          {begun !== null && (
            <Button variant="outline" disabled={busy} onClick={() => void resendCode(begun.factorId)}>
              Send another code
            </Button>
          )}
          <Button variant="ghost" onClick={onClose}>
            Cancel
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
