import type { JSX, ReactNode } from 'react'
import { setShowToolMessages, setTheme, usePageSettings } from '#web/data/settings.ts'
import { Switch } from '#web/ui/switch.tsx'
import { DefaultModel } from './default-model.tsx'
import { DeleteAccount } from './delete-account.tsx'
import { DocumentLanguages } from './document-languages.tsx'
import { ExportData } from './export-data.tsx'
import { Introduction } from './introduction.tsx'
import { OwnUsage } from './own-usage.tsx'
import { ProviderKeys } from './provider-keys.tsx'
import { Section } from '#web/ui/section.tsx'
import { StorageUsage } from './storage-usage.tsx'
import { THEMES } from './themes.ts'
import { VoiceSection } from './voice-section.tsx'
import { ToolServers } from './tool-servers.tsx'
import styles from './account.module.css'

type SettingsPanelProps = {
  /** Comes before the own settings. */
  above?: ReactNode
  /** Comes after them. */
  below?: ReactNode
  onShowIntroduction: () => void
}

export default function SettingsPanel({ above, below, onShowIntroduction }: SettingsPanelProps): JSX.Element {
  const { theme, showToolMessages } = usePageSettings()
  return (
    <section className={styles.panel} aria-labelledby="settings-heading">
      {above}
      <h2 id="settings-heading" className={styles.heading}>
        Settings
      </h2>
      <Section title="Appearance">
        <div role="radiogroup" aria-label="Appearance" className={styles.choices}>
          {THEMES.map(({ value, label }) => (
            <label key={value} className={styles.choice}>
              <input type="radio" name="theme" checked={theme === value} onChange={() => setTheme(value)} />
              {label}
            </label>
          ))}
        </div>
      </Section>
      <Section title="Conversations">
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
        <DefaultModel />
      </Section>
      <Section title="Documents">
        <DocumentLanguages />
      </Section>
      <ProviderKeys />
      <ToolServers />
      <VoiceSection />
      <Section title="Introduction">
        <Introduction onReset={onShowIntroduction} />
      </Section>
      <Section title="Storage">
        <StorageUsage />
      </Section>
      <OwnUsage />
      <Section title="Your data">
        <ExportData />
        <DeleteAccount />
      </Section>
      {below}
    </section>
  )
}
