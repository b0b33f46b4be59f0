import { useEffect, useState, type JSX } from 'react'
import { Redirect, useLocation, useSearch } from 'wouter'
import type { PublicConfig } from '#contract/auth.ts'
import { useAuth } from '#web/data/auth/auth-context.tsx'
import { loadConfig } from '#web/data/config.ts'
import { hasVerifiedFactor, needsPassword } from '#web/data/auth/session.ts'
import { NEW_PASSWORD_PATH, type MailPurpose } from '#web/data/auth/sign-in.ts'
import { DeletionNotice } from '#web/features/login/deletion-notice.tsx'
import { LoginForm } from '#web/features/login/login-form.tsx'
import { loadable } from '#web/ui/loadable.tsx'
import { Spinner } from '#web/ui/spinner.tsx'
import { LateStorageNotice } from '#web/app/late-storage-notice.tsx'
import { LoadingPage } from '#web/app/auth-gate.tsx'
import { usePageTitle } from '#web/app/use-page-title.ts'
import styles from './login.module.css'

const loading = (): JSX.Element => (
  <p role="status">
    <Spinner /> Loading…
  </p>
)
const ContinueForm = loadable(() => import('#web/features/login/continue-form.tsx'), { loading })
const EnrolForm = loadable(() => import('#web/features/login/enrol-form.tsx'), { loading })
const FactorForm = loadable(() => import('#web/features/login/factor-form.tsx'), { loading })
const MailForm = loadable(() => import('#web/features/login/mail-form.tsx'), { loading })
const NewPasswordForm = loadable(() => import('#web/features/login/new-password-form.tsx'), { loading })

/** Signed-in people go on to the chat unless they came to set a new password, or have to. */
export function LoginPage(): JSX.Element {
  const { loading, user, userAtSecondFactor, offeredEmail, error } = useAuth()
  const [, navigate] = useLocation()
  const wantsNewPassword = new URLSearchParams(useSearch()).has('new-password')
  usePageTitle(null, false)
  const [config, setConfig] = useState<PublicConfig | null>(null)
  const [mail, setMail] = useState<{ purpose: MailPurpose; email: string } | null>(null)
  useEffect(() => {
    loadConfig().then(setConfig, (failure: unknown) => console.error(failure))
  }, [])
  const isPasswordMissing = user !== null && needsPassword(user)
  if (user !== null && !wantsNewPassword && !isPasswordMissing) return <Redirect to="/" replace />
  if (loading) return <LoadingPage />

  const step = (): JSX.Element => {
    if (userAtSecondFactor !== null) {
      return hasVerifiedFactor(userAtSecondFactor) ? (
        <FactorForm user={userAtSecondFactor} />
      ) : (
        <EnrolForm email={userAtSecondFactor.email ?? ''} />
      )
    }
    if (user !== null) {
      return (
        <NewPasswordForm
          email={user.email ?? ''}
          isRequired={isPasswordMissing}
          onDone={() => navigate('/', { replace: true })}
        />
      )
    }
    if (offeredEmail !== null) return <ContinueForm email={offeredEmail} />
    if (mail !== null) {
      return (
        <MailForm
          purpose={mail.purpose}
          givenEmail={mail.email}
          mailbox={config?.mailbox ?? null}
          onCode={() => {
            if (mail.purpose === 'recovery') navigate(NEW_PASSWORD_PATH, { replace: true })
          }}
          onBack={() => setMail(null)}
        />
      )
    }
    return <LoginForm config={config} notice={error} onMail={(purpose, email) => setMail({ purpose, email })} />
  }
  return (
    <main className={styles.page}>
      <div className={styles.step}>
        <LateStorageNotice isSigningIn />
        <DeletionNotice />
        {step()}
      </div>
    </main>
  )
}
