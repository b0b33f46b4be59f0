import { SlidersHorizontal } from 'lucide-react'
import type { JSX } from 'react'
import { setShowToolMessages, usePageSettings } from '#web/data/settings.ts'
import { Button } from '#web/ui/button.tsx'
import { Menu, MenuLabel, MenuSwitchItem } from '#web/ui/menu.tsx'
import { SwitchMark } from '#web/ui/switch.tsx'
import styles from './account.module.css'

export function SettingsMenu(): JSX.Element {
  const shown = usePageSettings((state) => state.showToolMessages)
  return (
    <Menu
      label="Settings"
      trigger={
        <Button variant="ghost" size="icon" aria-label="Settings">
          <SlidersHorizontal size={18} />
        </Button>
      }
    >
      <MenuLabel>Settings</MenuLabel>
      <MenuSwitchItem checked={shown} onCheckedChange={setShowToolMessages}>
        <span className={styles.option}>
          <span>Show Tool Messages</span>
          <span className={styles.caption}>Display tool outputs in conversations</span>
        </span>
        <SwitchMark checked={shown} />
      </MenuSwitchItem>
    </Menu>
  )
}
