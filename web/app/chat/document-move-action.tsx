import type { JSX } from 'react'
import type { DocumentRow } from '#contract/document.ts'
import { LatePart } from './late-part.tsx'
import { DocumentMove } from './late-chunk-parts.ts'

/** The list of documents works without it. */
export function DocumentMoveAction({ document }: { document: DocumentRow }): JSX.Element {
  return (
    <LatePart>
      <DocumentMove document={document} />
    </LatePart>
  )
}
