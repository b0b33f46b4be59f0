export const messageElementId = (messageId: string): string => `message-${messageId}`

/** Groups rendered in later frames move the message. */
const SETTLING_FRAMES = 45

function holdInView(element: HTMLElement, frames = SETTLING_FRAMES): void {
  const { top, bottom } = element.getBoundingClientRect()
  const isTall = element.offsetHeight > innerHeight / 2
  if (top < 0 || (isTall ? top >= innerHeight / 2 : bottom > innerHeight))
    element.scrollIntoView({ block: isTall ? 'start' : 'center' })
  if (frames > 0 && element.isConnected) requestAnimationFrame(() => holdInView(element, frames - 1))
}

/** Scrolls to a message, highlights it for a moment and focuses it. False while it is not on the page. */
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
