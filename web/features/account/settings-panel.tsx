import type { JSX } from 'react'
import { setShowToolMessages, setTheme, usePageSettings } from '#web/data/settings.ts'
import type { Theme } from '#web/data/theme.ts'
import { Switch } from '#web/ui/switch.tsx'
import styles from './account.module.css'

const THEMES: { value: Theme; label: string }[] = [
  { value: 'system', label: 'As the system' },
  { value: 'dark', label: 'Dark' },
  { value: 'light', label: 'Light' },
]

/** The settings tab: what this browser remembers. */
export function SettingsPanel(): JSX.Element {
  const { theme, showToolMessages } = usePageSettings()
  return (
    <section className={styles.panel} aria-labelledby="settings-heading">
      <h2 id="settings-heading" className={styles.heading}>
        Settings
      </h2>
      <fieldset className={styles.fieldset}>
        <legend className={styles.legend}>Appearance</legend>
        {THEMES.map(({ value, label }) => (
          <label key={value} className={styles.choice}>
            <input type="radio" name="theme" checked={theme === value} onChange={() => setTheme(value)} />
            {label}
          </label>
        ))}
      </fieldset>
      <div className={styles.row}>
        <span className={styles.option} id="tool-messages-label">
          <span>Show Tool Messages</span>
          <span className={styles.caption}>Display tool outputs in conversations</span>
        </span>
        <Switch
          checked={showToolMessages}
          onCheckedChange={setShowToolMessages}
          aria-labelledby="tool-messages-label"
        />
      </div>
    </section>
  )
}
