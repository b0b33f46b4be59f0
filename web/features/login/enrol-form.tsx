import { useEffect, useState, type JSX } from 'react'
import { startEnrolment, verifyEnrolment, type Enrolment } from '#web/data/account/account.ts'
import { expectFirstRecoveryCodes, clearFirstRecoveryCodes } from '#web/data/account/first-recovery-codes.ts'
import { Button } from '#web/ui/button.tsx'
import { Spinner } from '#web/ui/spinner.tsx'
import { CodeField } from './code-field.tsx'
import styles from './enrol-form.module.css'
import { FormHeading } from './form-heading.tsx'
import { SwitchAccountButton } from './switch-account-button.tsx'
import form from './login-form.module.css'
import { useSignInStep } from './use-sign-in-step.ts'

export default function EnrolForm({ email }: { email: string }): JSX.Element {
  const [enrolment, setEnrolment] = useState<Enrolment | null>(null)
  const [code, setCode] = useState('')
  const { busy, error, submit, run } = useSignInStep()

  useEffect(() => {
    let isShown = true
    void run(async () => {
      const begun = await startEnrolment('Authenticator app')
      if (isShown) setEnrolment(begun)
    })
    return () => {
      isShown = false
    }
    // Once: another enrolment would invalidate the scanned code.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [])

  const verify = async (): Promise<void> => {
    if (enrolment === null) return
    // Set before verifying: on success the auth gate removes this form.
    expectFirstRecoveryCodes()
    try {
      await verifyEnrolment(enrolment.factorId, code)
    } catch (failure) {
      clearFirstRecoveryCodes()
      setCode('')
      throw failure
    }
  }

  return (
    <form className={form.form} onSubmit={submit(verify)} aria-labelledby="login-title">
      <FormHeading
        title="Turn two-factor on"
        subtitle="It is asked of everybody here. Scan the picture with an authenticator app, then enter the six digits that it shows."
      />
      {enrolment === null && error === null && <Spinner />}
      {enrolment !== null && (
        <>
          <img className={styles.picture} src={enrolment.qrCode} alt="QR code for an authenticator app" />
          <div>
            <p className={styles.caption}>Where you cannot scan, enter this key:</p>
            <p className={styles.secret}>{enrolment.secret}</p>
          </div>
          <CodeField label="Six-digit code" value={code} onChange={setCode} />
        </>
      )}
      {error !== null && (
        <p role="alert" className={form.error}>
          {error}
        </p>
      )}
      <Button type="submit" size="lg" disabled={busy || enrolment === null}>
        {busy && enrolment !== null ? 'Processing...' : 'Turn on'}
      </Button>
      <div className={form.links}>
        <SwitchAccountButton email={email} busy={busy} run={run} />
      </div>
    </form>
  )
}
