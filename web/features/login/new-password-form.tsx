import { useState, type JSX } from 'react'
import { setNewPassword } from '#web/data/auth/sign-in.ts'
import { Button } from '#web/ui/button.tsx'
import { TextField } from '#web/ui/text-field.tsx'
import { toast } from '#web/ui/toast.tsx'
import { FormHeading } from './form-heading.tsx'
import { SwitchAccountButton } from './switch-account-button.tsx'
import styles from './login-form.module.css'
import { useSignInStep } from './use-sign-in-step.ts'

type NewPasswordFormProps = {
  email: string
  /** The account has no password, since requests for its unconfirmed address had differed. */
  isRequired: boolean
  onDone: () => void
}

export default function NewPasswordForm({ email, isRequired, onDone }: NewPasswordFormProps): JSX.Element {
  const [password, setPassword] = useState('')
  const { busy, error, submit, run } = useSignInStep()
  const save = async (): Promise<void> => {
    await setNewPassword(password)
    toast({ title: 'Password changed', description: 'You are signed out everywhere else.' })
    onDone()
  }
  return (
    <form className={styles.form} onSubmit={submit(save)} aria-labelledby="login-title">
      <FormHeading
        title="Choose a new password"
        subtitle={
          isRequired
            ? `${email} is confirmed. More than one request had asked for it, so no password was kept.`
            : `For ${email}. Every other device will be signed out.`
        }
      />
      {/* Password managers need the user name in the form. */}
      <input type="hidden" name="username" autoComplete="username" value={email} readOnly />
      <TextField
        label="New password"
        type="password"
        name="new-password"
        required
        autoFocus
        autoComplete="new-password"
        placeholder="Enter your new password"
        value={password}
        onChange={(event) => setPassword(event.target.value)}
      />
      {error !== null && (
        <p role="alert" className={styles.error}>
          {error}
        </p>
      )}
      <Button type="submit" size="lg" disabled={busy}>
        {busy ? 'Processing...' : 'Save the new password'}
      </Button>
      <div className={styles.links}>
        {isRequired ? (
          <SwitchAccountButton email={email} busy={busy} run={run} />
        ) : (
          <Button variant="link" onClick={onDone}>
            Keep the old one
          </Button>
        )}
      </div>
    </form>
  )
}
