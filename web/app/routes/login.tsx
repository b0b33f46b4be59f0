import { useEffect, useState, type JSX } from 'react'
import { Redirect } from 'wouter'
import type { PublicConfig } from '#contract/auth.ts'
import { useAuth } from '#web/data/auth-context.tsx'
import { loadConfig } from '#web/data/config.ts'
import { LoginForm } from '#web/features/login/login-form.tsx'
import { LoadingPage } from '#web/app/auth-gate.tsx'
import { usePageTitle } from '#web/app/use-page-title.ts'
import styles from './login.module.css'

/** The sign-in page; whoever is signed in already goes on to the chat. */
export function LoginPage(): JSX.Element {
  const { loading, user, error } = useAuth()
  usePageTitle(null, false)
  const [config, setConfig] = useState<PublicConfig | null>(null)
  useEffect(() => {
    loadConfig().then(setConfig, (failure: unknown) => console.error(failure))
  }, [])
  if (user !== null) return <Redirect to="/" replace />
  if (loading) return <LoadingPage />
  return (
    <main className={styles.page}>
      <LoginForm config={config} notice={error} />
    </main>
  )
}
