import { describe, expect, test } from 'vitest'

import { PAGE_GAP, anchorAt, layoutPages, mostVisiblePage, pageAt, pagesNear, positionOf } from './page-layout.ts'

const portrait = { width: 600, height: 800 }
const landscape = { width: 800, height: 600 }

describe('layoutPages', () => {
  test('fits every page to the width of the pane', () => {
    const layout = layoutPages([portrait, landscape], 300, 1)
    expect(layout.boxes).toEqual([
      { top: PAGE_GAP, width: 300, height: 400 },
      { top: 2 * PAGE_GAP + 400, width: 300, height: 225 },
    ])
    expect(layout.height).toBe(3 * PAGE_GAP + 625)
    expect(layout.width).toBe(300)
  })

  test('grows with the zoom', () => {
    expect(layoutPages([portrait], 300, 2).boxes[0]).toEqual({ top: PAGE_GAP, width: 600, height: 800 })
  })

  test('does not blow up a small page without limit', () => {
    expect(layoutPages([{ width: 100, height: 50 }], 1000, 1).width).toBe(250)
  })
})

describe('pages by position', () => {
  const layout = layoutPages([portrait, portrait, portrait, portrait, portrait], 600, 1)
  const topOf = (page: number) => PAGE_GAP + (page - 1) * (800 + PAGE_GAP)

  test('a page begins at its own top edge', () => {
    expect(pageAt(layout, 0)).toBe(1)
    expect(pageAt(layout, topOf(3) - 1)).toBe(2)
    expect(pageAt(layout, topOf(3))).toBe(3)
    expect(pageAt(layout, 1e6)).toBe(5)
  })

  test('renders what is in sight and one page around it', () => {
    expect(pagesNear(layout, topOf(3), topOf(3) + 500)).toEqual([2, 3, 4])
    expect(pagesNear(layout, 0, 100)).toEqual([1, 2])
    expect(pagesNear(layout, topOf(5), 1e6)).toEqual([4, 5])
    expect(pagesNear(layoutPages([], 600, 1), 0, 100)).toEqual([])
  })

  test('the page in view is the one of which most is seen', () => {
    expect(mostVisiblePage(layout, topOf(2) + 300, topOf(2) + 1000)).toBe(2)
    expect(mostVisiblePage(layout, topOf(2) + 500, topOf(2) + 1300)).toBe(3)
    expect(mostVisiblePage(layout, topOf(2) - 8, topOf(2) + 4000)).toBe(2)
  })

  test('an anchor keeps its place in the page through a zoom', () => {
    const anchor = anchorAt(layout, topOf(4) + 200)
    expect(anchor).toEqual({ page: 4, share: 0.25 })
    const zoomed = layoutPages([portrait, portrait, portrait, portrait, portrait], 600, 1.5)
    expect(positionOf(zoomed, anchor)).toBe(PAGE_GAP + 3 * (1200 + PAGE_GAP) + 300)
  })

  test('an anchor keeps its place when an earlier page turns out shorter', () => {
    const anchor = anchorAt(layout, topOf(4) + 200)
    const corrected = layoutPages([portrait, landscape, portrait, portrait, portrait], 600, 1)
    expect(positionOf(corrected, anchor)).toBe(topOf(4) + 200 - 350)
  })
})
