/** The id of a message's element on the page. */
export const messageElementId = (messageId: string): string => `message-${messageId}`

/** Groups of messages around it are drawn over the frames that follow, and move it. */
const SETTLING_FRAMES = 45

function holdInView(element: HTMLElement, frames = SETTLING_FRAMES): void {
  const { top, bottom } = element.getBoundingClientRect()
  const isTall = element.offsetHeight > innerHeight / 2
  if (top < 0 || (isTall ? top >= innerHeight / 2 : bottom > innerHeight))
    element.scrollIntoView({ block: isTall ? 'start' : 'center' })
  if (frames > 0 && element.isConnected) requestAnimationFrame(() => holdInView(element, frames - 1))
}

/**
 * Scrolls to a message, marks it for a moment and gives it the focus, so that the keyboard and a screen reader go on from
 * there. False while it is not on the page.
 */
export function showTarget(messageId: string): boolean {
  const element = document.getElementById(messageElementId(messageId))
  if (element === null) return false
  holdInView(element)
  element.tabIndex = -1
  element.focus({ preventScroll: true })
  element.dataset['target'] = ''
  element.addEventListener('animationend', () => delete element.dataset['target'], { once: true })
  return true
}
