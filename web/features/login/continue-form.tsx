import type { JSX } from 'react'
import { acceptOffer, declineOffer } from '#web/data/auth/session.ts'
import { Button } from '#web/ui/button.tsx'
import { FormHeading } from './form-heading.tsx'
import styles from './login-form.module.css'
import { useSignInStep } from './use-sign-in-step.ts'

/** Asks before a link signs in: a stranger may have sent it, and it leads into their account then. */
export default function ContinueForm({ email }: { email: string }): JSX.Element {
  const { busy, error, submit, run } = useSignInStep()
  return (
    <form className={styles.form} onSubmit={submit(acceptOffer)} aria-labelledby="login-title">
      <FormHeading
        title={`Continue as ${email === '' ? 'a guest' : email}?`}
        subtitle="A link leads into this account. Continue only if it is yours."
      />
      {error !== null && (
        <p role="alert" className={styles.error}>
          {error}
        </p>
      )}
      <Button type="submit" size="lg" disabled={busy}>
        {busy ? 'Processing...' : 'Continue'}
      </Button>
      <div className={styles.links}>
        <Button variant="link" disabled={busy} onClick={() => void run(declineOffer)}>
          Cancel
        </Button>
      </div>
    </form>
  )
}
