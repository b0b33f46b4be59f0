import type { JSX } from 'react'
import { ErrorBoundary } from '#web/app/error-boundary.tsx'
import { loadable } from '#web/ui/loadable.tsx'
import { Sheet } from '#web/ui/sheet.tsx'
import { Spinner } from '#web/ui/spinner.tsx'
import { useNavigation } from './navigation.tsx'
import type { RouteControl } from './use-route-state.ts'
import type { Viewer } from './use-viewer.ts'
import styles from './viewer-column.module.css'

const ViewerPane = loadable(() => import('#web/features/viewer/viewer-pane.tsx'), {
  loading: () => (
    <p className={styles.loading} role="status">
      <Spinner /> Opening the document…
    </p>
  ),
})

type ViewerColumnProps = { route: RouteControl; viewer: Viewer; beside: boolean }

export function ViewerColumn({ route, viewer, beside }: ViewerColumnProps): JSX.Element | null {
  const { print } = useNavigation()
  const { documentId } = route
  const close = (): void => {
    viewer.close()
    if (beside) viewer.restoreFocus()
  }
  const pane = documentId !== null && (
    <ErrorBoundary>
      <ViewerPane
        documentId={documentId}
        page={route.page}
        highlight={viewer.highlight}
        citedName={viewer.citedName}
        citedIn={route.source?.messageId ?? null}
        onClose={close}
        onPrint={() => print({ kind: 'document', id: documentId })}
        onOpenVersion={viewer.openDocument}
        onPageChange={(page) => route.navigate({ page }, { replace: true })}
        {...(viewer.sourceNavigation === null ? {} : { sourceNavigation: viewer.sourceNavigation })}
      />
    </ErrorBoundary>
  )
  if (beside)
    return pane === false ? null : (
      <aside className={styles.column} data-viewer>
        {pane}
      </aside>
    )
  return (
    <Sheet
      open={documentId !== null}
      onOpenChange={(open) => {
        if (!open) close()
      }}
      label="Document"
      side="right"
      onCloseFocus={(event) => {
        event.preventDefault()
        viewer.restoreFocus()
      }}
    >
      <div className={styles.sheet} data-viewer>
        {pane}
      </div>
    </Sheet>
  )
}
