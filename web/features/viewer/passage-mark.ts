/** Marks a passage with one named CSS highlight, styled by `::highlight(source-passage)`. */

const NAME = 'source-passage'

/** Replaces the marked ranges; returns a function that removes this mark if it is still current. */
export function markPassage(ranges: readonly Range[]): () => void {
  // Without the Highlight API the page is shown at the right position, unmarked.
  if (typeof Highlight === 'undefined') return () => {}
  const mark = new Highlight(...ranges)
  CSS.highlights.set(NAME, mark)
  return () => {
    if (CSS.highlights.get(NAME) === mark) CSS.highlights.delete(NAME)
  }
}

/** A range of an element's text; null where its text is shorter. */
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

/** The ranges of `[start, end)` in a text spread over elements whose `data-start` gives their offset in it. */
export function rangesInStretches(container: Element, start: number, end: number): Range[] {
  return [...container.querySelectorAll<HTMLElement>('[data-start]')].flatMap((element) => {
    const offset = Number(element.dataset.start)
    const from = Math.max(0, start - offset)
    const to = end - offset
    return from < to ? (rangeInText(element, from, to) ?? []) : []
  })
}

/** A marked range of text, or a mark drawn over a picture. */
export type PassageMark = Pick<Range | Element, 'getBoundingClientRect'>

/** Line height of Helvetica and Arial, in em. */
const LETTER_HEIGHT_EM = 1.15

/** Takes the height from `line`, 1 em high: the height of a range depends on the fallback fonts of the machine. */
export function rangeInLine(range: Range, line: Element): PassageMark {
  return {
    getBoundingClientRect: () => {
      const { x, width } = range.getBoundingClientRect()
      const { y, height } = line.getBoundingClientRect()
      const letterHeight = height * LETTER_HEIGHT_EM
      return new DOMRect(x, y - (letterHeight - height) / 2, width, letterHeight)
    },
  }
}

/** Scrolls the mark into the upper third of the pane, also sideways on a page wider than the pane. */
export function revealMark(scroller: HTMLElement, mark: PassageMark): void {
  const box = mark.getBoundingClientRect()
  const pane = scroller.getBoundingClientRect()
  const left = box.left - pane.left
  const hiddenSideways = left < 0 || left > pane.width * 0.8
  scroller.scrollBy({
    top: box.top - pane.top - pane.height * 0.3,
    left: hiddenSideways ? left - pane.width * 0.2 : 0,
    behavior: 'instant',
  })
}
