import type { JSX, ReactNode } from 'react'
import { useUser } from '#web/data/auth/auth-context.tsx'
import { Button } from '#web/ui/button.tsx'
import { IdentitiesSection } from './identities-section.tsx'
import { PasswordSection } from './password-section.tsx'
import { ProfileSection } from './profile-section.tsx'
import { SessionsSection } from './sessions-section.tsx'
import { TwoFactorSection } from './two-factor-section.tsx'
import { useSignOut } from './use-sign-out.ts'
import styles from './account.module.css'

/** @param above what comes before the own account */
export default function AccountPanel({ above }: { above?: ReactNode }): JSX.Element {
  const user = useUser()
  const leave = useSignOut()
  return (
    <section className={styles.panel} aria-labelledby="account-heading">
      {above}
      <h2 id="account-heading" className={styles.heading}>
        Account
      </h2>
      <ProfileSection user={user} />
      <PasswordSection email={user.email ?? ''} />
      <TwoFactorSection user={user} />
      <SessionsSection />
      <IdentitiesSection user={user} />
      <Button variant="outline" size="sm" onClick={leave} className={styles.start}>
        Sign Out
      </Button>
    </section>
  )
}
