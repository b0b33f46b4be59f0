/** What an error says, else the fallback: an answer that says nothing reaches the page as its JSON in place of words. */
export function errorMessageOr(error: unknown, fallback: string): string {
  const message = error instanceof Error ? error.message.trim() : ''
  return message === '' || /^[{[]/.test(message) ? fallback : message
}
