import { defaultRangeExtractor, useVirtualizer, type Range, type Virtualizer } from '@tanstack/react-virtual'
import { useEffect, useLayoutEffect, useRef, type CSSProperties, type JSX, type KeyboardEvent, type Ref } from 'react'
import { usePositionInScroller } from './position-in-scroller.ts'
import styles from './virtual-rows.module.css'

/** Attributes of the `li` of a row. */
export interface VirtualRow {
  readonly ref: Ref<HTMLLIElement>
  readonly className: string | undefined
  readonly style: CSSProperties
  readonly 'data-index': number
  readonly 'aria-posinset': number
  readonly 'aria-setsize': number
}

interface VirtualRowsProps<Row> {
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string
  /** Height of a row that was not yet drawn, in pixels. */
  readonly estimatedHeight: number
  /** Whether rows follow that are not loaded. */
  readonly hasMore: boolean
  /** Called while the last rows are near the view. */
  readonly onNearEnd?: (() => void) | undefined
  /** Index of a row that is drawn outside the view too, so that it can take the focus. */
  readonly alsoDrawn?: number | undefined
  /** Name of the list for screen readers. */
  readonly label?: string | undefined
  readonly onKeyDown?: ((event: KeyboardEvent<HTMLUListElement>) => void) | undefined
  readonly className?: string | undefined
  readonly children: (row: Row, item: VirtualRow) => JSX.Element
}

/** Rows drawn on each side of the view. */
const OVERSCAN = 8
const NEAR_END = 20
const UNKNOWN_SIZE = -1

/** A list whose rows are in the document only near the view of the element that scrolls them, and while they hold the focus. */
export function VirtualRows<Row>({
  rows,
  keyOf,
  estimatedHeight,
  hasMore,
  onNearEnd,
  alsoDrawn,
  label,
  onKeyDown,
  className,
  children,
}: VirtualRowsProps<Row>): JSX.Element {
  const list = useRef<HTMLUListElement>(null)
  const { scroller, scrollMargin } = usePositionInScroller(list)

  // eslint-disable-next-line react-hooks/incompatible-library -- its functions are used here alone, in every render
  const virtualizer = useVirtualizer({
    count: rows.length,
    enabled: scroller !== null,
    getScrollElement: () => scroller,
    // A list that joins others in one scroller must not scroll it.
    initialOffset: () => scroller?.scrollTop ?? 0,
    estimateSize: () => estimatedHeight,
    getItemKey: (index) => {
      const row = rows[index]
      return row === undefined ? index : keyOf(row)
    },
    overscan: OVERSCAN,
    scrollMargin,
    rangeExtractor: (range) => withFurtherRows(range, [focusedIndex(list.current), alsoDrawn]),
  })
  const items = virtualizer.getVirtualItems()

  useSteadyView(virtualizer, rows)

  const isNearEnd = (items.at(-1)?.index ?? 0) >= rows.length - NEAR_END
  useEffect(() => {
    if (scroller !== null && hasMore && isNearEnd) onNearEnd?.()
  }, [scroller, hasMore, isNearEnd, onNearEnd])

  return (
    <ul
      ref={list}
      aria-label={label}
      className={className}
      style={{ height: virtualizer.getTotalSize(), position: 'relative', overflowAnchor: 'none' }}
      onKeyDown={onKeyDown}
    >
      {items.map(({ index, start }) => {
        const row = rows[index]
        return (
          row !== undefined &&
          children(row, {
            ref: virtualizer.measureElement,
            className: styles.row,
            style: { transform: `translateY(${start - scrollMargin}px)` },
            'data-index': index,
            'aria-posinset': index + 1,
            'aria-setsize': hasMore ? UNKNOWN_SIZE : rows.length,
          })
        )
      })}
    </ul>
  )
}

/** A row that leaves the document would lose the focus to the page. */
function focusedIndex(list: HTMLElement | null): number | undefined {
  const row = list?.contains(document.activeElement) === true && document.activeElement?.closest('[data-index]')
  return row instanceof HTMLElement ? Number(row.dataset['index']) : undefined
}

function withFurtherRows(range: Range, further: readonly (number | undefined)[]): number[] {
  const known = further.flatMap((index) => (index !== undefined && index < range.count ? index : []))
  return [...new Set([...defaultRangeExtractor(range), ...known])].toSorted((one, other) => one - other)
}

/** Rows that come or go above the view do not move those in it. */
function useSteadyView(virtualizer: Virtualizer<HTMLElement, Element>, rows: readonly unknown[]): void {
  const anchor = useRef<{ readonly key: unknown; readonly following: unknown; readonly start: number } | null>(null)

  useLayoutEffect(() => {
    if (anchor.current === null) return
    const { key, following, start } = anchor.current
    const all = virtualizer.measurementsCache
    const index = all.findIndex((item) => item.key === key)
    const difference = (all[index]?.start ?? start) - start
    // In another order of the rows, the view does not follow one of them.
    if (difference !== 0 && all[index + 1]?.key === following) virtualizer.scrollBy(difference)
  }, [virtualizer, rows])

  useLayoutEffect(() => {
    const { scrollOffset } = virtualizer
    const isAtTop = scrollOffset === null || scrollOffset <= virtualizer.options.scrollMargin
    const first = isAtTop ? undefined : virtualizer.getVirtualItems().find(({ end }) => end > scrollOffset)
    const following = first && virtualizer.measurementsCache[first.index + 1]?.key
    anchor.current = first === undefined ? null : { key: first.key, following, start: first.start }
  })
}
