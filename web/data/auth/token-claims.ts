/** The claims of a token (RFC 7519: its middle part), unverified; none of a text that is no token. */
export function claimsOf(token: string): Readonly<Record<string, unknown>> {
  try {
    const text = atob((token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/'))
    const claims: unknown = JSON.parse(text)
    return typeof claims === 'object' && claims !== null ? { ...claims } : {}
  } catch {
    return {}
  }
}

/** Another tab may have signed out and let another person in between two tokens. */
export const isOfSamePerson = (token: string, other: string): boolean =>
  claimsOf(token)['sub'] === claimsOf(other)['sub']
