/** Free space above the question, and below the text where the answer's sources follow. */
const ABOVE_PX = 16
const BELOW_PX = 64

/** Searches from the end: this runs twice per frame while an answer of thousands of elements is written. */
function findLast(parent: Element, selector: string, skipped: string | null = null): Element | undefined {
  for (let child = parent.lastElementChild; child !== null; child = child.previousElementSibling) {
    if (child.matches(selector)) return child
    if (skipped !== null && child.matches(skipped)) continue
    const found = findLast(child, selector, skipped)
    if (found !== undefined) return found
  }
  return undefined
}

/** Sources below or next to an answer push neither its text nor its question out of view while both fit. */
export function endOf(view: HTMLElement, content: Element): number {
  const most = view.scrollHeight - view.clientHeight
  const text = findLast(content, '[data-text-end]')
  if (text === undefined) return most
  const origin = view.getBoundingClientRect().top - view.scrollTop
  // A question is an article; no answer contains one.
  const question = findLast(content, '[data-asked]', 'article')
  const asked = question === undefined ? 0 : question.getBoundingClientRect().top - origin - ABOVE_PX
  const end = text.getBoundingClientRect().bottom - origin + BELOW_PX
  return Math.min(most, Math.max(asked, end - view.clientHeight))
}
