/** An element at the upper edge of the view, with its distance from the window's top. */
export type ReadingAnchor = { element: Element; top: number; scrollTop: number }

/** Nesting depth of an answer's block: thread, group, message, text, block. */
const DEPTH = 6

const reaches = (element: Element, edge: number): boolean => {
  const { bottom, height } = element.getBoundingClientRect()
  return height > 0 && bottom > edge
}

/** Margin notes are outside the text flow. */
const isInCourse = (element: Element): boolean => element.tagName !== 'ASIDE'

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

/** Browsers lay out in 1/64 pixel. */
const MIN_SHIFT_PX = 1 / 64

/** A view scrolls by whole device pixels; the rest becomes padding above the content. */
function moveUp(view: HTMLElement, content: HTMLElement, pixels: number): void {
  const room = (Number.parseFloat(content.style.marginTop) || 0) - pixels
  const whole = Math.floor(room)
  content.style.marginTop = `${room - whole}px`
  if (whole !== 0) view.scrollTop -= whole
}

/** Keeps the element's distance from the window's top, apart from scrolling since, even if the view moves down. */
export function restoreAnchor(
  view: HTMLElement,
  content: HTMLElement,
  { element, top, scrollTop }: ReadingAnchor,
): void {
  if (!element.isConnected) return
  const wanted = top - (view.scrollTop - scrollTop)
  const moved = element.getBoundingClientRect().top - wanted
  if (moved !== 0) view.scrollTop += moved
  const rest = element.getBoundingClientRect().top - wanted
  if (Math.abs(rest) > MIN_SHIFT_PX) moveUp(view, content, rest)
}
