import type { JSX } from 'react'
import type { DocumentRow } from '#contract/document.ts'
import { ErrorBoundary } from '#web/app/error-boundary.tsx'
import { DocumentMove } from './late-chunk-parts.ts'

/** The list of documents works without it. */
export function DocumentMoveAction({ document }: { document: DocumentRow }): JSX.Element {
  return (
    <ErrorBoundary isQuiet>
      <DocumentMove document={document} />
    </ErrorBoundary>
  )
}
