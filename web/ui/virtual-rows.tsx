import { defaultRangeExtractor, useVirtualizer, type Range, type Virtualizer } from '@tanstack/react-virtual'
import {
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
  type CSSProperties,
  type JSX,
  type KeyboardEvent,
  type Ref,
  type RefObject,
} from 'react'
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

/** The element that scrolls a list, and the height of what is above the list within it. */
function usePositionInScroller(list: RefObject<HTMLElement | null>): {
  scroller: HTMLElement | null
  scrollMargin: number
} {
  const [position, setPosition] = useState<{ scroller: HTMLElement | null; scrollMargin: number }>({
    scroller: null,
    scrollMargin: 0,
  })
  useLayoutEffect(() => {
    const element = list.current
    if (element === null) return
    const around = ancestorsUpToScroller(element)
    const scroller = around.at(-1) ?? null
    let known: number | undefined
    const measure = (): void => {
      const scrollMargin = scroller === null ? 0 : offsetWithin(element, scroller)
      if (scrollMargin === known) return
      // While its beginning is out of view, the list stays where it is whatever comes or goes above it.
      if (known !== undefined && scroller !== null && scroller.scrollTop > known)
        scroller.scrollTop += scrollMargin - known
      known = scrollMargin
      setPosition({ scroller, scrollMargin })
    }
    // Called at first too. A scrolling element of a fixed height does not change with what is above the list in it.
    const sizes = new ResizeObserver(measure)
    const observeSizes = (): void => {
      sizes.disconnect()
      for (const ancestor of around) for (const box of [ancestor, ...ancestor.children]) sizes.observe(box)
    }
    const contents = new MutationObserver(observeSizes)
    for (const ancestor of around) contents.observe(ancestor, { childList: true })
    observeSizes()
    return () => {
      sizes.disconnect()
      contents.disconnect()
    }
  }, [list])
  return position
}

/** The elements around this one, the scrolling one last; none if no element scrolls it. */
function ancestorsUpToScroller(element: HTMLElement): HTMLElement[] {
  const around: HTMLElement[] = []
  for (let parent = element.parentElement; parent !== null; parent = parent.parentElement) {
    around.push(parent)
    if (/auto|scroll/.test(getComputedStyle(parent).overflowY)) return around
  }
  return []
}

const offsetWithin = (element: HTMLElement, scroller: HTMLElement): number =>
  Math.round(element.getBoundingClientRect().top - scroller.getBoundingClientRect().top + scroller.scrollTop)
