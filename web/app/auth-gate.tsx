import { useEffect, type JSX, type ReactNode } from 'react'
import { Redirect, useLocation } from 'wouter'
import { useAuth } from '#web/data/auth/auth-context.tsx'
import { needsPassword } from '#web/data/auth/session.ts'
import { Button } from '#web/ui/button.tsx'
import { Spinner } from '#web/ui/spinner.tsx'
import { toast } from '#web/ui/toast.tsx'
import styles from './auth-gate.module.css'

export function LoadingPage(): JSX.Element {
  return (
    <main className={styles.page} role="status">
      <Spinner size={20} />
      <p className={styles.words}>Loading your experience...</p>
    </main>
  )
}

/**
 * Shows its children to signed-in people. Everyone else sees the error or goes to the sign-in page. An error of a
 * signed-in person, as from linking an identity provider, becomes a toast.
 */
export function AuthGate({ children }: { children: ReactNode }): JSX.Element {
  const { loading, user, error } = useAuth()
  const [, navigate] = useLocation()
  const failedWhileIn = user === null ? null : error
  useEffect(() => {
    if (failedWhileIn === null) return
    toast({ title: 'Authentication Error', description: failedWhileIn, variant: 'destructive' })
  }, [failedWhileIn])
  if (loading) return <LoadingPage />
  if (user !== null && !needsPassword(user)) return <>{children}</>
  if (error === null || user !== null) return <Redirect to="/login" replace />
  return (
    <main className={styles.page}>
      <h1 className={styles.title}>Authentication Error</h1>
      <p className={styles.words}>{error}</p>
      <Button onClick={() => navigate('/login')}>Go to Login</Button>
    </main>
  )
}
