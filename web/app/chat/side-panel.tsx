import { lazy, Suspense, type JSX } from 'react'
import { ErrorBoundary } from '#web/app/error-boundary.tsx'
import { HistoryPanel, type HistoryPanelProps } from '#web/features/history/history-panel.tsx'
import { LibraryLoading } from '#web/features/library/library-loading.tsx'
import { DocumentList, UploadArea } from '#web/features/library/library-parts.ts'
import { useNavigation } from './navigation.tsx'
import type { RailTab } from './rail.tsx'
import styles from './side-panel.module.css'
import { useRouteState } from './use-route-state.ts'

const AccountPanel = lazy(() => import('#web/features/account/account-panel.tsx'))
const SettingsPanel = lazy(() => import('#web/features/account/settings-panel.tsx'))

type SidePanelProps = {
  tab: RailTab
  history: HistoryPanelProps
}

export function SidePanel({ tab, history }: SidePanelProps): JSX.Element {
  const { openDocument, askAbout, showIntroduction } = useNavigation()
  const { documentId } = useRouteState()
  return (
    <div id="side-panel" className={styles.panel}>
      {tab === 'chat' && <HistoryPanel {...history} />}
      {tab === 'files' && (
        <section className={styles.files} aria-label="Library">
          <h2 className={styles.heading}>Files</h2>
          <ErrorBoundary>
            <Suspense fallback={<LibraryLoading />}>
              <UploadArea />
              <DocumentList label="Files" onOpen={openDocument} openId={documentId} onAsk={askAbout} />
            </Suspense>
          </ErrorBoundary>
        </section>
      )}
      {/* Keyed by tab: a tab that fails to load does not block the others. */}
      <ErrorBoundary key={tab}>
        <Suspense>
          {tab === 'users' && <AccountPanel />}
          {tab === 'settings' && <SettingsPanel onShowIntroduction={showIntroduction} />}
        </Suspense>
      </ErrorBoundary>
    </div>
  )
}
