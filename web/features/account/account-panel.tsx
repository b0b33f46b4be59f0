import type { JSX } from 'react'
import { useUser } from '#web/data/auth-context.tsx'
import { Button } from '#web/ui/button.tsx'
import { useSignOut } from './use-sign-out.ts'
import styles from './account.module.css'

/** The users tab: who is signed in. */
export function AccountPanel(): JSX.Element {
  const user = useUser()
  const leave = useSignOut()
  return (
    <section className={styles.panel} aria-labelledby="account-heading">
      <h2 id="account-heading" className={styles.heading}>
        Account
      </h2>
      <div>
        <p className={styles.email}>{user.email}</p>
        <p className={styles.caption}>User Account</p>
      </div>
      <Button variant="outline" size="sm" onClick={leave} className={styles.start}>
        Sign Out
      </Button>
    </section>
  )
}
