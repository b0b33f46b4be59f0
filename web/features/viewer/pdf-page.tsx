import type { PDFDocumentProxy } from 'pdfjs-dist'
import { useEffect, useRef } from 'react'
import type { CSSProperties, JSX } from 'react'

import { BoxedPassage } from './boxed-passage.tsx'
import type { ItemRange } from './item-ranges.ts'
import type { ItemLayout } from './drawn-glyphs.ts'
import type { PageRectangle } from './passage-boxes.ts'
import { markPassage, rangeInLine, rangeInText, type PassageMark } from './passage-mark.ts'
import type { PageSize } from './page-layout.ts'
import styles from './pdf-page.module.css'
import { usePageCanvas } from './use-page-canvas.ts'
import { usePdfPage } from './use-pdf-page.ts'
import { useFittedItems } from './use-fitted-items.ts'
import { useTextLayer } from './use-text-layer.ts'

/** The location of the passage: in the text layer or, after OCR, on the page's picture. */
export interface PagePassage {
  ranges: readonly ItemRange[]
  rectangles: readonly PageRectangle[]
}

interface PdfPageProps {
  pdf: PDFDocumentProxy
  page: number
  box: { top: number; width: number; height: number }
  passage: PagePassage | null
  onSize: (page: number, size: PageSize) => void
  /** Called with the marks of the passage, once rendered, and the text around them. */
  onMarked: (marks: readonly PassageMark[], around: readonly PassageMark[]) => void
}

/** One page: the drawing, and over it transparent text for selection, search and marks. */
export function PdfPage({ pdf, page, box, passage, onSize, onMarked }: PdfPageProps): JSX.Element {
  const drawing = useRef<HTMLDivElement>(null)
  const textLayer = useRef<HTMLDivElement>(null)
  const proxy = usePdfPage(pdf, page, onSize)
  const { drawn, dark } = usePageCanvas(drawing, proxy, box.width)
  const items = useTextLayer(textLayer, proxy)

  const fitted = useFittedItems(proxy, items, passage?.ranges)
  const isFitted = fitted !== null && fitted === passage?.ranges

  useEffect(() => {
    if (!items || !passage) return
    const marks = passage.ranges.flatMap(({ item, from, to }) => {
      const { element, layout } = items[item] ?? {}
      const range = rangeInText(element, from, to)
      return element && range ? [{ range, mark: isHorizontal(layout) ? rangeInLine(range, element) : range }] : []
    })
    const unmark = markPassage(marks.map(({ range }) => range))
    const texts = items.map(({ element }) => element)
    if (marks.length > 0)
      onMarked(
        marks.map(({ mark }) => mark),
        texts,
      )
    return unmark
    // Fitting replaces the element's text nodes, which invalidates ranges in them.
  }, [items, passage, isFitted, onMarked])

  const scale = proxy ? box.width / proxy.getViewport({ scale: 1 }).width : 1
  const style: CSSProperties & Record<`--${string}`, number> = {
    ...box,
    '--total-scale-factor': scale * (proxy?.userUnit ?? 1),
  }
  return (
    <div
      className={styles.page}
      style={style}
      data-page={page}
      data-drawn={drawn}
      data-dark={dark}
      aria-label={`Page ${page}`}
      role="group"
    >
      <div ref={drawing} className={styles.drawing} />
      {proxy && passage && passage.rectangles.length > 0 && (
        <BoxedPassage rectangles={passage.rectangles} isDark={dark} onMarked={onMarked} />
      )}
      <div
        ref={textLayer}
        className={styles.text}
        translate="no"
        data-passage={items !== null && passage !== null}
        data-fitted={isFitted}
      />
    </div>
  )
}

const isHorizontal = (layout: ItemLayout | null | undefined): boolean => layout?.transform[1] === 0
