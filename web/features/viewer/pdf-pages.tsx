import { useQuery } from '@tanstack/react-query'
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import type { JSX } from 'react'

import { pageTextQuery } from '#web/data/documents/document-queries.ts'

import { watchArrival, type Arrival } from './arrival.ts'
import { COLUMN_MARGIN, columnOf, zoomToRead, type Column } from './fit-passage.ts'
import { itemRanges } from './item-ranges.ts'
import { anchorAt, layoutPages, mostVisiblePage, PAGE_GAP, pagesNear, positionOf } from './page-layout.ts'
import type { PageLayout, PageSize } from './page-layout.ts'
import { passageRectangles } from './passage-boxes.ts'
import { revealMark, type PassageMark } from './passage-mark.ts'
import { PassageNote } from './passage-note.tsx'
import { PdfPage, type PagePassage } from './pdf-page.tsx'
import styles from './pdf-pages.module.css'
import { ViewerState } from './viewer-state.tsx'
import type { Passage, ViewerTarget } from './viewer-target.ts'
import { usePdf } from './use-pdf.ts'
import type { PdfFailureReason, PdfState } from './use-pdf.ts'
import { useScrollPosition } from './use-scroll-position.ts'

/** Space at either side of a page that is fitted to the pane, in pixels. */
const SIDE_MARGIN = 16

interface PagesProps {
  documentId: string
  target: ViewerTarget
  passage: Passage | null
  zoom: number
  scroller: HTMLElement
  onPage: (page: number) => void
  onPageCount: (pages: number) => void
  /** Called with the zoom that makes the passage readable; null once the person has chosen a zoom. */
  onFit: ((zoom: number) => void) | null
}

/** The pages of a PDF in one scroll area. Imports pdf.js, so load it lazily. */
export default function PdfPages(props: PagesProps): JSX.Element {
  const [attempt, setAttempt] = useState(1)
  return <PdfAttempt key={attempt} {...props} onRetry={() => setAttempt(attempt + 1)} />
}

function PdfAttempt({ onRetry, ...props }: PagesProps & { onRetry: () => void }): JSX.Element {
  const result = usePdf(props.documentId, props.target.page)
  if (result.state === 'loading') return <ViewerState kind="loading" title="Opening the document" />
  if (result.state === 'open') return <OpenPdf {...props} {...result} />
  const { reason } = result
  const [title, text] = FAILURES[reason]
  return (
    <ViewerState
      kind="failed"
      title={title}
      text={text}
      {...(reason === 'unreachable' && { onRetry })}
      {...((reason === 'encrypted' || reason === 'broken') && { downloadOf: props.documentId })}
    />
  )
}

const FAILURES: Record<PdfFailureReason, [title: string, text: string]> = {
  deleted: ['This document was deleted', 'Its pages can no longer be shown.'],
  encrypted: ['This PDF is protected by a password', 'Download it to open it in another program.'],
  unreachable: ['The document could not be loaded', 'The server did not answer as expected.'],
  broken: ['This PDF could not be shown', 'Download it to try another program.'],
}

function OpenPdf({
  documentId,
  pdf,
  size,
  target,
  passage,
  zoom,
  scroller,
  onPage,
  onPageCount,
  onFit,
}: PagesProps & Extract<PdfState, { state: 'open' }>): JSX.Element | null {
  const position = useScrollPosition(scroller)
  const [sizes, setSizes] = useState<PageSize[]>(() => Array.from({ length: pdf.numPages }, () => size))
  const width = position ? position.width - 2 * SIDE_MARGIN : 0
  const layout = useMemo(() => layoutPages(sizes, width, zoom), [sizes, width, zoom])
  const [arrival] = useState(() => watchArrival(scroller))
  const reveal = usePageScroll({
    scroller,
    arrival,
    layout: width > 0 ? layout : null,
    target,
    passage,
    zoom,
    onFit,
  })

  const pageText = useQuery({ ...pageTextQuery(documentId, passage?.page ?? 1), enabled: passage !== null })
  const marked = useMemo((): PagePassage | null => {
    if (!passage || !pageText.data) return null
    const { items = [], boxes = [] } = pageText.data
    return {
      ranges: itemRanges(items, passage.start, passage.end),
      rectangles: passageRectangles(boxes, passage.start, passage.end),
    }
  }, [passage, pageText.data])
  const isUnmarked = marked?.ranges.length === 0 && marked.rectangles.length === 0

  const noteSize = useCallback((page: number, measured: PageSize) => {
    setSizes((known) => {
      const before = known[page - 1]
      const same = before?.width === measured.width && before.height === measured.height
      return same ? known : known.with(page - 1, measured)
    })
  }, [])

  useEffect(() => {
    if (!position || position.width === 0) return
    onPage(arrival.page() ?? mostVisiblePage(layout, position.top, position.top + position.height))
  }, [arrival, position, layout, onPage])
  useEffect(() => onPageCount(pdf.numPages), [pdf, onPageCount])

  if (!position || width <= 0) return null
  return (
    <>
      <div className={styles.pages} style={{ height: layout.height, minWidth: layout.width + 2 * SIDE_MARGIN }}>
        {pagesNear(layout, position.top, position.top + position.height).map((page) => {
          const box = layout.boxes[page - 1]
          return (
            box && (
              <PdfPage
                key={page}
                pdf={pdf}
                page={page}
                box={box}
                passage={passage?.page === page ? marked : null}
                onSize={noteSize}
                onMarked={reveal}
              />
            )
          )
        })}
      </div>
      {passage && pageText.data && isUnmarked && (
        <PassageNote text={pageText.data.text.slice(passage.start, passage.end)} />
      )}
    </>
  )
}

interface MarkedPassage {
  marks: readonly PassageMark[]
  around: readonly PassageMark[]
}

const columnOn = ({ marks, around }: MarkedPassage): Column | null => {
  const boxOf = (mark: PassageMark) => mark.getBoundingClientRect()
  return columnOf(marks.map(boxOf), around.map(boxOf))
}

/** Scrolls a passage into view with the line starts at the edge of the pane. */
function showColumn(scroller: HTMLElement, passage: MarkedPassage): void {
  const [first] = passage.marks
  if (first) revealMark(scroller, first)
  const column = columnOn(passage)
  if (!column) return
  scroller.scrollBy({ left: column.left - scroller.getBoundingClientRect().left - COLUMN_MARGIN, behavior: 'instant' })
}

/** Scrolls to the target once per request. @returns the callback that reveals a passage once, large enough to read */
function usePageScroll({
  scroller,
  arrival,
  layout,
  target,
  passage,
  zoom,
  onFit,
}: {
  scroller: HTMLElement
  arrival: Arrival
  layout: PageLayout | null
  target: ViewerTarget
  passage: Passage | null
  zoom: number
  onFit: PagesProps['onFit']
}): (marks: readonly PassageMark[], around: readonly PassageMark[]) => void {
  const arrivedAt = useRef<ViewerTarget | null>(null)
  const revealed = useRef<Passage | null>(null)
  const shown = useRef<PageLayout | null>(null)
  /** The newest marks; earlier ones may be detached from the page. */
  const marked = useRef<MarkedPassage | null>(null)
  const isFitted = useRef(false)
  // After a layout change the browser may already have clamped `scrollTop` to a lower end.
  const top = useRef(0)

  useEffect(() => {
    const note = () => {
      top.current = scroller.scrollTop
    }
    scroller.addEventListener('scroll', note, { passive: true })
    return () => scroller.removeEventListener('scroll', note)
  }, [scroller])

  useLayoutEffect(() => {
    if (!layout) return
    if (!onFit) isFitted.current = false
    const before = shown.current
    shown.current = layout
    if (arrivedAt.current !== target) {
      arrivedAt.current = target
      const page = Math.min(Math.max(1, target.page), layout.boxes.length)
      const pageTop = positionOf(layout, { page, share: 0 })
      scroller.scrollTo({ top: page === 1 ? 0 : pageTop - PAGE_GAP / 2, behavior: 'instant' })
      arrival.arriveAt(page)
    } else if (before && before !== layout) {
      const isWider = before.width !== layout.width
      const arrivedPage = arrival.page()
      scroller.scrollTo({
        top: positionOf(layout, anchorAt(before, top.current)),
        left: isWider ? (scroller.scrollWidth - scroller.clientWidth) / 2 : scroller.scrollLeft,
        behavior: 'instant',
      })
      if (arrivedPage !== null) {
        if (isFitted.current && marked.current) showColumn(scroller, marked.current)
        arrival.arriveAt(arrivedPage)
      }
    }
    top.current = scroller.scrollTop
  }, [scroller, arrival, layout, target, onFit])

  const targetPage = target.page
  return useCallback(
    (marks, around) => {
      marked.current = { marks, around }
      const [first] = marks
      // After a return to another page than the marked one, scrolling must not jump to the mark.
      if (!first || passage?.page !== targetPage) return
      if (revealed.current !== passage) {
        revealed.current = passage
        revealMark(scroller, first)
        const column = onFit && columnOn(marked.current)
        const next = column ? zoomToRead(column, scroller.clientWidth, zoom) : zoom
        isFitted.current = column !== null && next !== 1
        if (next !== zoom) onFit?.(next)
        else if (isFitted.current) showColumn(scroller, marked.current)
      } else if (isFitted.current && arrival.page() !== null) {
        showColumn(scroller, marked.current)
      } else return
      arrival.arriveAt(passage.page)
      top.current = scroller.scrollTop
    },
    [scroller, arrival, targetPage, passage, zoom, onFit],
  )
}
