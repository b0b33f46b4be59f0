export function errorMessageOr(error: unknown, fallback: string): string {
  const message = error instanceof Error ? error.message.trim() : ''
  return message === '' || /^[{[]/.test(message) ? fallback : message
}
