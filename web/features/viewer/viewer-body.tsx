import type { UseQueryResult } from '@tanstack/react-query'
import { lazy, Suspense, type JSX } from 'react'

import type { DocumentRow } from '#contract/document.ts'

import { ImageView } from './image-view.tsx'
import { readerKind } from './viewer-kind.ts'
import { ReaderState } from './viewer-state.tsx'
import type { ReaderPlace } from './viewer-target.ts'
import { TextSections } from './text-sections.tsx'

const PdfPages = lazy(() => import('./pdf-pages.tsx'))

interface ReaderBodyProps {
  document: UseQueryResult<DocumentRow | null>
  place: ReaderPlace
  zoom: number
  scroller: HTMLElement
  onGo: (page: number) => void
  onPage: (page: number) => void
  onPageCount: (pages: number) => void
  onFit: ((zoom: number) => void) | null
}

/** The document in the view of its kind, or the reason why it cannot be shown. */
export function ReaderBody({ document, ...props }: ReaderBodyProps): JSX.Element {
  if (document.isPending) return <ReaderState kind="loading" title="Opening the document" />
  if (document.isError) {
    return (
      <ReaderState
        kind="failed"
        title="The document could not be opened"
        text="The server did not answer as expected."
        onRetry={() => void document.refetch()}
      />
    )
  }
  if (document.data === null) {
    return (
      <ReaderState
        kind="failed"
        title="This document is not there"
        text="It was deleted, or it is somebody else’s. An answer that rests on it still shows the passage."
      />
    )
  }
  return <DocumentBody document={document.data} {...props} />
}

function DocumentBody({
  document,
  place,
  zoom,
  scroller,
  onGo,
  onPage,
  onPageCount,
  onFit,
}: Omit<ReaderBodyProps, 'document'> & { document: DocumentRow }): JSX.Element {
  const kind = readerKind(document.mimetype)
  if (kind.body === 'pdf') {
    return (
      <Suspense fallback={<ReaderState kind="loading" title="Opening the document" />}>
        <PdfPages
          documentId={document.id}
          target={place.target}
          passage={place.passage}
          zoom={zoom}
          scroller={scroller}
          onPage={onPage}
          onPageCount={onPageCount}
          onFit={onFit}
        />
      </Suspense>
    )
  }
  if (kind.body === 'image') {
    return <ImageView document={document} passage={place.passage} zoom={zoom} scroller={scroller} />
  }
  if (document.state === 'failed') {
    const reason = document.error?.message ?? 'Its text could not be read.'
    return <ReaderState kind="failed" title="There is no text to show" text={reason} downloadOf={document.id} />
  }
  if (document.state !== 'ready') return <ReaderState kind="loading" title="The document is still being read" />
  return (
    <TextSections
      documentId={document.id}
      pages={document.pages ?? 1}
      unit={kind.unit}
      hardWrapped={kind.hardWrapped}
      target={place.target}
      passage={place.passage}
      scroller={scroller}
      onPage={onPage}
      onGo={onGo}
    />
  )
}
