/** The marked passage: one named CSS highlight, styled by `::highlight(source-passage)`. */

const NAME = 'source-passage'

/** Marks the ranges in place of what was marked before; the answer takes the mark away, if it is still this one. */
export function markPassage(ranges: readonly Range[]): () => void {
  // A browser without the Highlight API shows the page at the right place, unmarked.
  if (typeof Highlight === 'undefined') return () => {}
  const mark = new Highlight(...ranges)
  CSS.highlights.set(NAME, mark)
  return () => {
    if (CSS.highlights.get(NAME) === mark) CSS.highlights.delete(NAME)
  }
}

/** A range of the text of one element; null where the element holds no such text. */
export function rangeInText(element: Element | undefined, from: number, to: number): Range | null {
  const length = element?.textContent.length ?? 0
  if (!element || from >= length) return null
  const range = document.createRange()
  const last = Math.min(to, length)
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT)
  let passed = 0
  for (let node = walker.nextNode(); node instanceof Text; node = walker.nextNode()) {
    const isFirst = passed <= from && from < passed + node.length
    if (isFirst) range.setStart(node, from - passed)
    if (last <= passed + node.length) {
      range.setEnd(node, last - passed)
      break
    }
    passed += node.length
  }
  return range
}

/**
 * The ranges of `[start, end)` in a text that stands in several elements, each of which says with `data-start` where in
 * the text its own begins.
 */
export function rangesInStretches(container: Element, start: number, end: number): Range[] {
  return [...container.querySelectorAll<HTMLElement>('[data-start]')].flatMap((element) => {
    const offset = Number(element.dataset.start)
    const from = Math.max(0, start - offset)
    const to = end - offset
    return from < to ? (rangeInText(element, from, to) ?? []) : []
  })
}

/** A marked range of text, or a mark drawn over a picture. */
export type MarkedPlace = Pick<Range | Element, 'getBoundingClientRect'>

/** Height of letters with what is above and below them, in sizes of the font: that of Helvetica and Arial. */
const LETTER_HEIGHT_EM = 1.15

/**
 * A range in an element of one line that is 1 em high. The height of the range itself depends on the fonts that the
 * machine has in place of those of the document.
 */
export function placeInLine(range: Range, line: Element): MarkedPlace {
  return {
    getBoundingClientRect: () => {
      const { x, width } = range.getBoundingClientRect()
      const { y, height } = line.getBoundingClientRect()
      const letterHeight = height * LETTER_HEIGHT_EM
      return new DOMRect(x, y - (letterHeight - height) / 2, width, letterHeight)
    },
  }
}

/** Scrolls so that the place stands in the upper third of the pane, also sideways when the page is wider than it. */
export function revealPlace(scroller: HTMLElement, place: MarkedPlace): void {
  const box = place.getBoundingClientRect()
  const pane = scroller.getBoundingClientRect()
  const left = box.left - pane.left
  const hiddenSideways = left < 0 || left > pane.width * 0.8
  scroller.scrollBy({
    top: box.top - pane.top - pane.height * 0.3,
    left: hiddenSideways ? left - pane.width * 0.2 : 0,
    behavior: 'instant',
  })
}
