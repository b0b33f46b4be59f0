import type { JSX } from 'react'
import type { DocumentRow } from '#contract/document.ts'
import { AccountPanel } from '#web/features/account/account-panel.tsx'
import { SettingsPanel } from '#web/features/account/settings-panel.tsx'
import { HistoryPanel, type HistoryPanelProps } from '#web/features/history/history-panel.tsx'
import { DocumentList } from '#web/features/library/document-list.tsx'
import { UploadArea } from '#web/features/library/upload-area.tsx'
import type { RailTab } from './rail.tsx'
import styles from './side-panel.module.css'

type SidePanelProps = {
  tab: RailTab
  history: HistoryPanelProps
  onOpenDocument: (id: string) => void
  onAskAbout: (documents: readonly DocumentRow[]) => void
  onShowIntroduction: () => void
}

/** The content of the open tab of the rail. */
export function SidePanel({
  tab,
  history,
  onOpenDocument,
  onAskAbout,
  onShowIntroduction,
}: SidePanelProps): JSX.Element {
  return (
    <div id="side-panel" className={styles.panel}>
      {tab === 'chat' && <HistoryPanel {...history} />}
      {tab === 'files' && (
        <section className={styles.files} aria-label="Library">
          <h2 className={styles.heading}>Files</h2>
          <UploadArea />
          <DocumentList label="Files" onOpen={onOpenDocument} onAsk={onAskAbout} />
        </section>
      )}
      {tab === 'users' && <AccountPanel />}
      {tab === 'settings' && <SettingsPanel onShowIntroduction={onShowIntroduction} />}
    </div>
  )
}
