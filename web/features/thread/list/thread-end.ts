/** Free space above the question, and below the text where the answer's sources follow. */
const ABOVE_PX = 16
const BELOW_PX = 64

const lastOf = (content: Element, selector: string): Element | undefined =>
  [...content.querySelectorAll(selector)].at(-1)

/** Sources below or next to an answer push neither its text nor its question out of view while both fit. */
export function endOf(view: HTMLElement, content: Element): number {
  const most = view.scrollHeight - view.clientHeight
  const text = lastOf(content, '[data-text-end]')
  if (text === undefined) return most
  const origin = view.getBoundingClientRect().top - view.scrollTop
  const question = lastOf(content, '[data-asked]')
  const asked = question === undefined ? 0 : question.getBoundingClientRect().top - origin - ABOVE_PX
  const end = text.getBoundingClientRect().bottom - origin + BELOW_PX
  return Math.min(most, Math.max(asked, end - view.clientHeight))
}
