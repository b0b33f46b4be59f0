import type { AuthError } from './errors.ts'
import type { SessionAnswer } from './session-answer.ts'

/** Browsers do not send the fragment to servers. */
export function writeSession(target: URL, { user: _, ...session }: SessionAnswer, more: Record<string, string>): void {
  target.hash = new URLSearchParams({
    ...session,
    expires_in: String(session.expires_in),
    expires_at: String(session.expires_at),
    ...more,
    sb: '',
  }).toString()
}

/** PKCE clients read errors from the query, pages from the fragment. */
export function writeFailure(
  target: URL,
  { code, status, message }: Pick<AuthError, 'code' | 'status' | 'message'>,
  { isPkce }: { isPkce: boolean },
): void {
  const failure = {
    error: status >= 500 ? 'server_error' : 'access_denied',
    error_code: code,
    error_description: message,
  }
  target.hash = new URLSearchParams({ ...failure, sb: '' }).toString()
  if (isPkce) for (const [name, value] of Object.entries(failure)) target.searchParams.set(name, value)
}
