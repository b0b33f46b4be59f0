import { Check, SlidersHorizontal } from 'lucide-react'
import type { JSX } from 'react'
import { setShowToolMessages, setTheme, usePageSettings } from '#web/data/settings.ts'
import { Button } from '#web/ui/button.tsx'
import {
  Menu,
  MenuChoice,
  MenuChoiceItem,
  MenuChosen,
  MenuLabel,
  MenuSeparator,
  MenuSwitchItem,
  Submenu,
} from '#web/ui/menu.tsx'
import { SwitchMark } from '#web/ui/switch-mark.tsx'
import { THEMES } from './themes.ts'
import styles from './account.module.css'

/** Settings of this browser; the settings tab has the same and more. */
export function SettingsMenu(): JSX.Element {
  const { showToolMessages: shown, theme } = usePageSettings()
  const chosen = THEMES.find(({ value }) => value === theme)
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
      <MenuSeparator />
      <Submenu label="Appearance" {...(chosen === undefined ? {} : { value: chosen.label })}>
        <MenuChoice value={theme}>
          {THEMES.map(({ value, label }) => (
            <MenuChoiceItem key={value} value={value} onSelect={() => setTheme(value)}>
              {label}
              <MenuChosen>
                <Check size={15} aria-label="Selected" />
              </MenuChosen>
            </MenuChoiceItem>
          ))}
        </MenuChoice>
      </Submenu>
    </Menu>
  )
}
