/** A UUID of version 4 (RFC 9562), whose variant is always 8. */
function randomUuid(): ReturnType<Crypto['randomUUID']> {
  const bytes = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0'))
  const digits = (from: number, to: number): string => bytes.join('').slice(from, to)
  return `${digits(0, 8)}-${digits(8, 12)}-4${digits(13, 16)}-8${digits(17, 20)}-${digits(20, 32)}`
}

/** Browsers offer `crypto.randomUUID` to secure origins alone; the page and its libraries use it on plain http too. */
export function provideRandomUuid(): void {
  if (!isSecureContext) crypto.randomUUID = randomUuid
}
