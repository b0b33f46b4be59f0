import { LogOut, UserRound } from 'lucide-react'
import type { JSX } from 'react'
import { useUser } from '#web/data/auth/auth-context.tsx'
import { Button } from '#web/ui/button.tsx'
import { Menu, MenuItem, MenuSeparator } from '#web/ui/menu.tsx'
import { useSignOut } from './use-sign-out.ts'
import styles from './account.module.css'

export function AccountMenu(): JSX.Element {
  const user = useUser()
  const leave = useSignOut()
  return (
    <Menu
      label="Account"
      trigger={
        <Button variant="ghost" size="icon" aria-label="Account">
          <UserRound size={18} />
        </Button>
      }
    >
      <div className={styles.who}>
        <p className={styles.email}>{user.email}</p>
        <p className={styles.caption}>User Account</p>
      </div>
      <MenuSeparator />
      <MenuItem onSelect={leave}>
        <LogOut size={15} aria-hidden /> Sign Out
      </MenuItem>
    </Menu>
  )
}
