/** What a reader looks at: an element at the upper edge of the view, and how far down the window it stands. */
export type ReadingAnchor = { element: Element; top: number; scrollTop: number }

/** As deep as a block of an answer: thread, group, message, text, block. */
const DEPTH = 6

const reaches = (element: Element, edge: number): boolean => {
  const { bottom, height } = element.getBoundingClientRect()
  return height > 0 && bottom > edge
}

/** Notes in the margin stand beside the text, not in its course. */
const isInCourse = (element: Element): boolean => element.tagName !== 'ASIDE'

/** The innermost element at the upper edge of `view`. */
export function findAnchor(view: HTMLElement, content: Element): ReadingAnchor | null {
  const edge = view.getBoundingClientRect().top
  let found: Element | null = null
  let within = content
  for (let depth = 0; depth < DEPTH; depth += 1) {
    const child = [...within.children].find((element) => isInCourse(element) && reaches(element, edge))
    if (child === undefined) break
    found = child
    within = child
  }
  if (found === null) return null
  return { element: found, top: found.getBoundingClientRect().top, scrollTop: view.scrollTop }
}

/** Layout counts in sixty-fourths of a pixel. */
const LEAST_PX = 1 / 64

/** A view scrolls by whole pixels of the screen: what is left of one is room above the content. */
function moveUp(view: HTMLElement, content: HTMLElement, pixels: number): void {
  const room = (Number.parseFloat(content.style.marginTop) || 0) - pixels
  const whole = Math.floor(room)
  content.style.marginTop = `${room - whole}px`
  if (whole !== 0) view.scrollTop -= whole
}

/**
 * Scrolls so that the element stands where it stood in the window, apart from what the reader has scrolled since: also
 * where the view itself begins further down, below something that came in above it.
 */
export function holdAnchor(view: HTMLElement, content: HTMLElement, { element, top, scrollTop }: ReadingAnchor): void {
  if (!element.isConnected) return
  const wanted = top - (view.scrollTop - scrollTop)
  const moved = element.getBoundingClientRect().top - wanted
  if (moved !== 0) view.scrollTop += moved
  const rest = element.getBoundingClientRect().top - wanted
  if (Math.abs(rest) > LEAST_PX) moveUp(view, content, rest)
}
