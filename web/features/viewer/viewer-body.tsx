import { useQuery, type UseQueryResult } from '@tanstack/react-query'
import type { JSX } from 'react'

import type { DocumentRow } from '#contract/document.ts'
import { absenceQuery } from '#web/data/documents/absent-document.ts'
import { loadable } from '#web/ui/loadable.tsx'
import { UNKNOWN_ABSENCE } from '#web/lib/documents/unknown-absence.ts'

import { ImageView } from './image-view.tsx'
import { viewerKind } from './viewer-kind.ts'
import { ViewerState } from './viewer-state.tsx'
import type { ViewerLocation } from './viewer-target.ts'
import { TextSections } from './text-sections.tsx'

const PdfPages = loadable(() => import('./pdf-pages.tsx'), {
  loading: () => <ViewerState kind="loading" title="Opening the document" />,
})

interface ViewerBodyProps {
  documentId: string
  /** The answer that cites it; null outside a citation. */
  citedIn: string | null
  document: UseQueryResult<DocumentRow | null>
  location: ViewerLocation
  zoom: number
  scroller: HTMLElement
  onGo: (page: number) => void
  onPage: (page: number) => void
  onPageCount: (pages: number) => void
  onFit: ((zoom: number) => void) | null
}

export function ViewerBody({ documentId, citedIn, document, ...props }: ViewerBodyProps): JSX.Element {
  if (document.isPending) return <ViewerState kind="loading" title="Opening the document" />
  if (document.isError) {
    return (
      <ViewerState
        kind="failed"
        title="The document could not be opened"
        text="The server did not answer as expected."
        onRetry={() => void document.refetch()}
      />
    )
  }
  if (document.data === null) return <AbsentBody documentId={documentId} citedIn={citedIn} />
  return <DocumentBody document={document.data} {...props} />
}

function AbsentBody({ documentId, citedIn }: Pick<ViewerBodyProps, 'documentId' | 'citedIn'>): JSX.Element {
  const { data: reason, isLoading } = useQuery({
    ...absenceQuery(documentId, citedIn ?? ''),
    enabled: citedIn !== null,
  })
  if (isLoading) return <ViewerState kind="loading" title="Opening the document" />
  return (
    <ViewerState
      kind="failed"
      title="This document cannot be opened"
      text={`${reason ?? UNKNOWN_ABSENCE} An answer that rests on it still shows the passage.`}
    />
  )
}

function DocumentBody({
  document,
  location,
  zoom,
  scroller,
  onGo,
  onPage,
  onPageCount,
  onFit,
}: Omit<ViewerBodyProps, 'document' | 'documentId' | 'citedIn'> & { document: DocumentRow }): JSX.Element {
  const kind = viewerKind(document.mimetype)
  if (kind.body === 'pdf') {
    return (
      <PdfPages
        documentId={document.id}
        target={location.target}
        passage={location.passage}
        zoom={zoom}
        scroller={scroller}
        onPage={onPage}
        onPageCount={onPageCount}
        onFit={onFit}
      />
    )
  }
  if (kind.body === 'image') {
    return <ImageView document={document} passage={location.passage} zoom={zoom} scroller={scroller} />
  }
  if (document.state === 'failed') {
    const reason = document.error?.message ?? 'Its text could not be read.'
    return <ViewerState kind="failed" title="There is no text to show" text={reason} downloadOf={document.id} />
  }
  if (document.state === 'paused') {
    const text = 'It has no text to show until you resume the reading in Files.'
    return (
      <ViewerState kind="failed" title="The reading of this document is paused" text={text} downloadOf={document.id} />
    )
  }
  if (document.state !== 'ready') return <ViewerState kind="loading" title="The document is still being read" />
  return (
    <TextSections
      documentId={document.id}
      pages={document.pages ?? 1}
      unit={kind.unit}
      hardWrapped={kind.hardWrapped}
      target={location.target}
      passage={location.passage}
      scroller={scroller}
      onPage={onPage}
      onGo={onGo}
    />
  )
}
