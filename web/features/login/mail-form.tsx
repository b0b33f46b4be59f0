import { useState, type JSX } from 'react'
import { requestMail, verifyMailCode, type MailPurpose } from '#web/data/auth/sign-in.ts'
import { Button } from '#web/ui/button.tsx'
import { TextField } from '#web/ui/text-field.tsx'
import { CodeField } from './code-field.tsx'
import { FormHeading } from './form-heading.tsx'
import styles from './login-form.module.css'
import { useSignInStep } from './use-sign-in-step.ts'

const WORDS = {
  'sign-in': {
    title: 'Sign in by e-mail',
    subtitle: 'We send you a link and a code. Either signs you in.',
  },
  recovery: {
    title: 'Set a new password',
    subtitle: 'We send you a link and a code. Then you choose a new password.',
  },
}

type MailFormProps = {
  purpose: MailPurpose
  givenEmail: string
  mailbox: string | null
  /** Called before a code signs in, which removes the form. */
  onCode: () => void
  onBack: () => void
}

/** Requests the mail, then asks for its code. The link of the mail works in its own tab. */
export default function MailForm({ purpose, givenEmail, mailbox, onCode, onBack }: MailFormProps): JSX.Element {
  const [email, setEmail] = useState(givenEmail)
  const [sent, setSent] = useState(false)
  const [code, setCode] = useState('')
  const { busy, error, submit, run } = useSignInStep()
  const words = WORDS[purpose]

  const ask = async (): Promise<void> => {
    await requestMail(purpose, email)
    setSent(true)
  }
  const verify = async (): Promise<void> => {
    onCode()
    await verifyMailCode(purpose, email, code)
  }

  return (
    <form className={styles.form} onSubmit={submit(sent ? verify : ask)} aria-labelledby="login-title">
      <FormHeading
        title={sent ? 'Check your e-mail' : words.title}
        subtitle={
          sent
            ? `If ${email} has an account, a mail is on its way. Follow its link, or enter its code.`
            : words.subtitle
        }
      />
      {sent ? (
        <CodeField label="Code from the mail" value={code} onChange={setCode} />
      ) : (
        <TextField
          label="Email"
          type="email"
          name="email"
          required
          autoFocus
          autoComplete="email"
          placeholder="Enter your email"
          value={email}
          onChange={(event) => setEmail(event.target.value)}
        />
      )}
      {error !== null && (
        <p role="alert" className={styles.error}>
          {error}
        </p>
      )}
      <Button type="submit" size="lg" disabled={busy}>
        {busy ? 'Processing...' : sent ? 'Continue' : 'Send the mail'}
      </Button>
      <div className={styles.links}>
        {sent && (
          <Button variant="link" disabled={busy} onClick={() => void run(ask)}>
            Send it again
          </Button>
        )}
        <Button variant="link" onClick={onBack}>
          Back to signing in
        </Button>
        {sent && mailbox !== null && (
          <Button variant="link" asChild>
            <a href="/mailbox" target="_blank" rel="noopener">
              Open the local mailbox
            </a>
          </Button>
        )}
      </div>
    </form>
  )
}
