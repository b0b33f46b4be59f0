import type { JSX } from 'react'
import { ErrorBoundary } from '#web/app/error-boundary.tsx'
import { HistoryPanel, type HistoryPanelProps } from '#web/features/history/history-panel.tsx'
import { DocumentList, UploadArea } from '#web/features/library/library-parts.ts'
import { addingRefusal } from '#web/data/spaces/space-rights.ts'
import { useCurrentSpace } from '#web/data/spaces/known-spaces.ts'
import { loadable } from '#web/ui/loadable.tsx'
import { useNavigation } from './navigation.tsx'
import type { RailTab } from './rail.tsx'
import styles from './side-panel.module.css'
import { useAfterFirstReads } from './use-after-first-reads.ts'
import { useRouteState } from './use-route-state.ts'
import { MembersSection, SpaceSettings, SpaceSwitcher } from './late-chunk-parts.ts'
import { DocumentMoveAction } from './document-move-action.tsx'

const AccountPanel = loadable(() => import('#web/features/account/account-panel.tsx'))
const SettingsTab = loadable(() => import('./settings-tab.tsx'))

type SidePanelProps = {
  tab: RailTab
  history: HistoryPanelProps
}

export function SidePanel({ tab, history }: SidePanelProps): JSX.Element {
  const { openDocument, askAbout, showIntroduction, openSpace, newSpace } = useNavigation()
  const { documentId } = useRouteState()
  const space = useCurrentSpace()
  const refusal = addingRefusal(space)
  const isSwitcherDue = useAfterFirstReads()
  return (
    <div id="side-panel" className={styles.panel}>
      <nav className={styles.space} aria-label="Space">
        {isSwitcherDue && (
          <ErrorBoundary isQuiet>
            <SpaceSwitcher activeId={history.activeId} onOpenSpace={openSpace} onNewSpace={newSpace} />
          </ErrorBoundary>
        )}
      </nav>
      {tab === 'chat' && <HistoryPanel {...history} />}
      {tab === 'files' && (
        <section className={styles.files} aria-label="Library">
          <h2 className={styles.heading}>Files</h2>
          <ErrorBoundary>
            {refusal === null ? <UploadArea /> : <p className={styles.note}>{refusal}</p>}
            <DocumentList
              key={space?.id}
              label="Files"
              Move={DocumentMoveAction}
              onOpen={openDocument}
              openId={documentId}
              onAsk={askAbout}
            />
          </ErrorBoundary>
        </section>
      )}
      {/* Keyed by tab: a tab that fails to load does not block the others. */}
      <ErrorBoundary key={tab}>
        {tab === 'users' && <AccountPanel above={space === null ? null : <MembersSection />} />}
        {tab === 'settings' && (
          <SettingsTab above={space === null ? null : <SpaceSettings />} onShowIntroduction={showIntroduction} />
        )}
      </ErrorBoundary>
    </div>
  )
}
