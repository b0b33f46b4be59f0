import { useQuery } from '@tanstack/react-query'
import { useCallback, useEffect, useEffectEvent, useState, type JSX, type KeyboardEvent } from 'react'

import { documentQuery } from '#web/data/documents/document-queries.ts'

import { SHORTCUTS } from '#web/lib/shortcuts.ts'
import { ViewerBody } from './viewer-body.tsx'
import { ViewerHeader } from './viewer-header.tsx'
import { viewerKind } from './viewer-kind.ts'
import styles from './viewer-pane.module.css'
import { followRequest, goToPage, locationFor, type Passage } from './viewer-target.ts'
import type { SourceNavigation } from './source-steps.tsx'
import { useCitedCells } from './use-cited-cells.ts'
import { useTextOrigin } from './use-text-origin.ts'

interface ViewerPaneProps {
  documentId: string
  /** The page to open, counted from 1. */
  page: number
  highlight: Passage | null
  /** Its name in the citation; null outside a citation. */
  citedName: string | null
  /** The answer that cites it; null outside a citation. */
  citedIn: string | null
  onClose: () => void
  onPrint: () => void
  onOpenVersion: (documentId: string) => void
  /** Called with the page in view as the person scrolls. May be fed back into `page`. */
  onPageChange?: (page: number) => void
  sourceNavigation?: SourceNavigation
}

/** Fields use the arrow keys themselves. */
const isField = (target: EventTarget): boolean => target instanceof Element && target.matches('input, select, textarea')

export default function ViewerPane(props: ViewerPaneProps): JSX.Element {
  const { documentId, highlight, citedName, citedIn, onClose, onPrint, onOpenVersion, onPageChange, sourceNavigation } =
    props
  const document = useQuery(documentQuery(documentId))
  const [scroller, setScroller] = useState<HTMLElement | null>(null)
  const [chosenZoom, setChosenZoom] = useState<number | null>(null)
  const [fitted, setFitted] = useState({ documentId, zoom: 1 })
  const zoom = chosenZoom ?? (fitted.documentId === documentId ? fitted.zoom : 1)
  const [counted, setCounted] = useState({ documentId, pages: 0 })
  const [location, setLocation] = useState(() => locationFor(props))
  const followed = followRequest(location, { documentId, page: props.page, highlight })
  if (followed !== location) setLocation(followed)

  const kind = viewerKind(document.data?.mimetype ?? '')
  const textOrigin = useTextOrigin(document.data ?? null, followed.page)
  const citedCells = useCitedCells(documentId, kind.unit === 'Sheet', followed.passage)
  const countedPages = counted.documentId === documentId ? counted.pages : 0
  const canZoom = kind.body === 'image' || countedPages > 0
  const go = useCallback((page: number) => setLocation((now) => goToPage(now, page)), [])
  const notePage = useCallback((page: number) => setLocation((now) => (now.page === page ? now : { ...now, page })), [])
  const fit = useCallback((next: number) => setFitted({ documentId, zoom: next }), [documentId])
  const noteCount = useCallback((pages: number) => setCounted({ documentId, pages }), [documentId])

  const tellPage = useEffectEvent((page: number) => {
    if (page !== props.page) onPageChange?.(page)
  })
  useEffect(() => tellPage(location.page), [location.page])
  // Keyboard control needs the focus inside: take it from outside, and leave it alone inside.
  useEffect(() => {
    if (scroller?.parentElement?.contains(window.document.activeElement) === false)
      scroller.focus({ preventScroll: true })
  }, [scroller, documentId, highlight?.key])

  const handleKey = (event: KeyboardEvent) => {
    if (event.defaultPrevented) return
    if (SHORTCUTS.closeViewer.matches(event)) {
      event.stopPropagation()
      return onClose()
    }
    const delta = SHORTCUTS.nextSource.matches(event) ? 1 : SHORTCUTS.previousSource.matches(event) ? -1 : null
    if (delta === null || !sourceNavigation || isField(event.target)) return
    event.preventDefault()
    const next = sourceNavigation.position + delta
    if (next >= 1 && next <= sourceNavigation.count) sourceNavigation.onMove(delta)
  }

  return (
    <section
      className={styles.pane}
      aria-label={`Reader: ${document.data?.filename ?? citedName ?? 'document'}`}
      onKeyDown={handleKey}
    >
      <ViewerHeader
        document={document.data ?? null}
        citedName={citedName}
        page={followed.page}
        pageCount={document.data ? countedPages || (document.data.pages ?? 0) : 0}
        note={citedCells ?? textOrigin}
        unit={kind.unit}
        zoom={document.data && canZoom ? zoom : null}
        sourceNavigation={sourceNavigation}
        onGo={go}
        onZoom={setChosenZoom}
        onClose={onClose}
        onPrint={onPrint}
        onOpenVersion={onOpenVersion}
      />
      <div
        ref={setScroller}
        className={styles.scroller}
        data-body={kind.body}
        tabIndex={0}
        role="region"
        aria-label="Document"
      >
        {scroller && (
          <ViewerBody
            key={documentId}
            documentId={documentId}
            citedIn={citedIn}
            document={document}
            location={followed}
            zoom={zoom}
            scroller={scroller}
            onGo={go}
            onPage={notePage}
            onPageCount={noteCount}
            onFit={chosenZoom === null ? fit : null}
          />
        )}
      </div>
    </section>
  )
}
