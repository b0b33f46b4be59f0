/** Vertical layout of a document's pages in one scroll area, in CSS pixels. Pages count from 1, as in citations. */

export interface PageSize {
  width: number
  height: number
}

export interface PageLayout {
  boxes: { top: number; width: number; height: number }[]
  height: number
  width: number
}

interface ScrollAnchor {
  page: number
  /** Offset within the page, as a share of its height: stable under zooming and late measurements. */
  share: number
}

export const PAGE_GAP = 16

/** Largest enlargement of a small page that is fitted to a wide pane. */
const MAX_FIT = 2.5

/** Scales each page to the pane's width times the zoom and stacks them. `sizes` are in PDF points at scale 1. */
export function layoutPages(sizes: readonly PageSize[], paneWidth: number, zoom: number): PageLayout {
  let top = PAGE_GAP
  let widest = 0
  const boxes = sizes.map((size) => {
    const scale = Math.min(MAX_FIT, paneWidth / size.width) * zoom
    const box = { top, width: Math.floor(size.width * scale), height: Math.floor(size.height * scale) }
    top += box.height + PAGE_GAP
    widest = Math.max(widest, box.width)
    return box
  })
  return { boxes, height: top, width: widest }
}

/** The page at a scroll height; in a gap, the page above it. */
export function pageAt(layout: PageLayout, y: number): number {
  let low = 0
  let high = layout.boxes.length - 1
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((layout.boxes[middle]?.top ?? 0) <= y) low = middle
    else high = middle - 1
  }
  return low + 1
}

/** The pages that touch `[top, bottom]`, and one more on either side. */
export function pagesNear(layout: PageLayout, top: number, bottom: number): number[] {
  const first = Math.max(1, pageAt(layout, top) - 1)
  const last = Math.min(layout.boxes.length, pageAt(layout, bottom) + 1)
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index)
}

/** The page with the largest visible height between `top` and `bottom`; the first of equals. */
export function mostVisiblePage(layout: PageLayout, top: number, bottom: number): number {
  let most = { page: pageAt(layout, top), height: 0 }
  for (const page of pagesNear(layout, top, bottom)) {
    const box = layout.boxes[page - 1]
    if (!box) continue
    const height = Math.min(bottom, box.top + box.height) - Math.max(top, box.top)
    if (height > most.height) most = { page, height }
  }
  return most.page
}

export function anchorAt(layout: PageLayout, y: number): ScrollAnchor {
  const page = pageAt(layout, y)
  const box = layout.boxes[page - 1]
  if (!box || box.height === 0) return { page, share: 0 }
  return { page, share: (y - box.top) / box.height }
}

export function positionOf(layout: PageLayout, anchor: ScrollAnchor): number {
  const box = layout.boxes[anchor.page - 1]
  return box ? box.top + anchor.share * box.height : 0
}
