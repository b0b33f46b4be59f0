import { lazy, Suspense, type JSX } from 'react'
import { FaultBoundary } from '#web/app/error-boundary.tsx'
import { Sheet } from '#web/ui/sheet.tsx'
import { Spinner } from '#web/ui/spinner.tsx'
import type { PlaceControl } from './use-route-state.ts'
import type { Reader } from './use-viewer.ts'
import styles from './viewer-column.module.css'

const ReaderPane = lazy(() => import('#web/features/viewer/viewer-pane.tsx'))

type ReaderColumnProps = { place: PlaceControl; reader: Reader; beside: boolean }

/** The open document: a third column where there is room, else a sheet over the page. */
export function ReaderColumn({ place, reader, beside }: ReaderColumnProps): JSX.Element | null {
  const { documentId } = place
  const close = (): void => {
    reader.close()
    if (beside) reader.restoreFocus()
  }
  const pane = documentId !== null && (
    <FaultBoundary>
      <Suspense
        fallback={
          <p className={styles.loading} role="status">
            <Spinner /> Opening the document…
          </p>
        }
      >
        <ReaderPane
          documentId={documentId}
          page={place.page}
          highlight={reader.highlight}
          citedName={reader.citedName}
          onClose={close}
          onOpenVersion={reader.openDocument}
          onPageChange={(page) => place.go({ page }, { replace: true })}
          {...(reader.sourceNavigation === null ? {} : { sourceNavigation: reader.sourceNavigation })}
        />
      </Suspense>
    </FaultBoundary>
  )
  if (beside) return pane === false ? null : <aside className={styles.column}>{pane}</aside>
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
        reader.restoreFocus()
      }}
    >
      <div className={styles.sheet}>{pane}</div>
    </Sheet>
  )
}
