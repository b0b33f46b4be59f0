import { defaultRangeExtractor, useVirtualizer, type VirtualItem } from '@tanstack/react-virtual'
import { useEffect, useMemo, useRef, type JSX } from 'react'

import { SHEET_PART_ROWS } from '#contract/document.ts'
import { usePositionInScroller } from '#web/ui/position-in-scroller.ts'

import { columnWidths, limitWidths } from './column-widths.ts'
import { SheetHead } from './sheet-head.tsx'
import { linesWithin, loadedLines, type SheetLines } from './sheet-lines.ts'
import { SheetRow } from './sheet-row.tsx'
import styles from './text-section.module.css'
import type { Passage } from './viewer-target.ts'

/** Pixels; drawn rows are measured. */
const ROW_HEIGHT = 30
const OVERSCAN = 20
/** Rows that are loaded before they come into view, and how long a view stays until its rows are. */
const ROWS_AHEAD = 200
const PASSING_MS = 60
/** Width of cells with so much text in all. */
const widthOf = (characters: number, cells = 1): string =>
  `calc(${characters}ch + ${cells} * (2 * var(--space-3) + 1px))`

export interface SheetProps {
  text: string
  lines: SheetLines
  /** Column numbers; A is 1. */
  columns: readonly number[]
  passage: Passage | null
  scroller: HTMLElement
  /** Those of a long sheet: see `sheetPart`. */
  widths: readonly number[] | undefined
  /** Asks for parts that are not loaded, by their first rows. */
  onMissing: (rows: readonly number[]) => void
}

/** The rows near the view, and those of the passage wherever they are. */
export function LongSheet(props: SheetProps & { head: number }): JSX.Element {
  const { text, lines, head, columns, widths: measured, passage, scroller, onMissing } = props
  const body = useRef<HTMLTableSectionElement>(null)
  const { scrollMargin } = usePositionInScroller(body)
  const widths = useMemo(
    () => (measured ? limitWidths(measured, columns.length) : columnWidths(text, loadedLines(lines), columns.length)),
    [measured, text, lines, columns],
  )
  const cited = useMemo(() => (passage ? linesWithin(lines, passage) : undefined), [lines, passage])

  // eslint-disable-next-line react-hooks/incompatible-library -- its functions are used here alone, in every render
  const virtualizer = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller,
    initialOffset: () => scroller.scrollTop,
    // Rows are drawn at once, so that the passage can be marked.
    initialRect: { width: scroller.clientWidth, height: scroller.clientHeight },
    estimateSize: () => ROW_HEIGHT,
    overscan: OVERSCAN,
    scrollMargin,
    rangeExtractor: (range) => {
      const [from, to] = cited ?? [0, 0]
      const ofPassage = Array.from({ length: to - from }, (_, index) => from + index)
      return [...new Set([...defaultRangeExtractor(range), ...ofPassage])].toSorted((one, other) => one - other)
    },
  })
  const items = virtualizer.getVirtualItems()
  const near = items.flatMap(({ index }) => [index, index - ROWS_AHEAD, index + ROWS_AHEAD])
  const missing = near.filter((index) => index >= 0 && index < lines.length && lines[index] === undefined)
  const parts = [...new Set(missing.map((index) => Math.floor(index / SHEET_PART_ROWS)))].join()
  useEffect(() => {
    if (parts === '') return
    // Rows that are only passed on the way to others are not loaded.
    const timer = setTimeout(
      () => onMissing(parts.split(',').map((part) => Number(part) * SHEET_PART_ROWS)),
      PASSING_MS,
    )
    return () => clearTimeout(timer)
  }, [parts, onMissing])
  const all = [String(lines.at(-1)?.row ?? 0).length, ...widths]
  return (
    <table
      className={styles.long}
      style={{
        width: widthOf(
          all.reduce((sum, width) => sum + width),
          all.length,
        ),
      }}
      aria-rowcount={lines.length + 1}
    >
      <colgroup>
        {all.map((width, index) => (
          <col key={index} style={{ width: widthOf(width) }} />
        ))}
      </colgroup>
      <SheetHead columns={columns} />
      <tbody ref={body}>
        {items.flatMap(({ index, start, size }, place) => [
          <Gap key={`before ${index}`} height={start - endOf(items[place - 1], scrollMargin)} />,
          lines[index] === undefined ? (
            <Gap key={`missing ${index}`} height={size} />
          ) : (
            <SheetRow
              key={index}
              text={text}
              lines={lines}
              index={index}
              head={head}
              columns={columns}
              drawn={{ ref: virtualizer.measureElement, 'data-index': index, 'aria-rowindex': index + 2 }}
            />
          ),
        ])}
        <Gap height={virtualizer.getTotalSize() + scrollMargin - endOf(items.at(-1), scrollMargin)} />
      </tbody>
    </table>
  )
}

const endOf = (item: VirtualItem | undefined, scrollMargin: number): number => item?.end ?? scrollMargin

/** The place of rows that are not drawn. */
const Gap = ({ height }: { height: number }): JSX.Element | null =>
  height > 0 ? <tr aria-hidden className={styles.gap} style={{ height }} /> : null
