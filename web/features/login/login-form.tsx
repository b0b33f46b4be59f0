import type { JSX } from 'react'
import type { PublicConfig } from '#contract/auth.ts'
import { PRODUCT_NAME } from '#contract/product-names.ts'
import type { MailPurpose } from '#web/data/auth/sign-in.ts'
import { Button } from '#web/ui/button.tsx'
import { TextField } from '#web/ui/text-field.tsx'
import { ConfirmationNotice } from './confirmation-notice.tsx'
import { FormHeading } from './form-heading.tsx'
import { ProviderButtons } from './provider-buttons.tsx'
import { useLoginForm } from './use-login-form.ts'
import styles from './login-form.module.css'

const WORDS = {
  'sign-in': {
    title: `Sign in to ${PRODUCT_NAME}`,
    subtitle: 'Sign in to continue using your AI assistant',
    submit: 'Sign in',
    toggle: "Don't have an account? Sign up",
  },
  'sign-up': {
    title: 'Create an account',
    subtitle: 'Create your account to access your AI assistant',
    submit: 'Create account',
    toggle: 'Already have an account? Sign in',
  },
}

type LoginFormProps = {
  config: Pick<PublicConfig, 'testAccount' | 'mailbox'> | null
  notice: string | null
  /** Opens the form that requests a mail, with the typed address. */
  onMail: (purpose: MailPurpose, email: string) => void
}

/** The test account and the mailbox exist only in the local set-up. */
export function LoginForm({ config, notice, onMail }: LoginFormProps): JSX.Element {
  const form = useLoginForm()
  const words = WORDS[form.mode]
  const message = form.error ?? notice
  const account = config?.testAccount ?? null
  const hasMailbox = (config?.mailbox ?? null) !== null
  if (form.confirmationTo !== null) {
    return (
      <div className={styles.form} role="form" aria-labelledby="login-title">
        <FormHeading title={words.title} subtitle={words.subtitle} />
        <ConfirmationNotice sentTo={form.confirmationTo} hasMailbox={hasMailbox} />
        <div className={styles.links}>
          <Button variant="link" onClick={form.toggleMode}>
            {words.toggle}
          </Button>
          <Button variant="link" onClick={form.changeAddress}>
            Use another address
          </Button>
        </div>
      </div>
    )
  }
  return (
    <form className={styles.form} onSubmit={form.submit} aria-labelledby="login-title">
      <FormHeading title={words.title} subtitle={words.subtitle} />
      <TextField
        label="Email"
        type="email"
        name="email"
        required
        autoComplete="email"
        placeholder="Enter your email"
        value={form.email}
        onChange={(event) => form.setEmail(event.target.value)}
      />
      <TextField
        label="Password"
        type="password"
        name="password"
        required
        autoComplete={form.mode === 'sign-in' ? 'current-password' : 'new-password'}
        placeholder="Enter your password"
        value={form.password}
        onChange={(event) => form.setPassword(event.target.value)}
      />
      {message !== null && (
        <p role="alert" className={styles.error}>
          {message}
        </p>
      )}
      <Button type="submit" size="lg" disabled={form.busy}>
        {form.busy ? 'Processing...' : words.submit}
      </Button>
      <ProviderButtons />
      <div className={styles.links}>
        <Button variant="link" onClick={form.toggleMode}>
          {words.toggle}
        </Button>
        {form.mode === 'sign-in' && (
          <>
            <Button variant="link" onClick={() => onMail('recovery', form.email)}>
              Forgot your password?
            </Button>
            <Button variant="link" onClick={() => onMail('sign-in', form.email)}>
              Sign in by e-mail
            </Button>
          </>
        )}
        {account !== null && (
          <Button
            variant="link"
            onClick={() => {
              form.setEmail(account.email)
              form.setPassword(account.password)
            }}
          >
            Use test account
          </Button>
        )}
        {hasMailbox && (
          <Button variant="link" asChild>
            <a href="/mailbox">Open the local mailbox</a>
          </Button>
        )}
      </div>
    </form>
  )
}
