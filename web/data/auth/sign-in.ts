/** The ways into an account beside the password: mails with a link and a code, the second factor, a new password. */
import type { AuthError } from '@supabase/auth-js'
import { authClient } from './session.ts'

/** What a mail is asked for: signing in with it, or setting a new password after it. */
export type MailPurpose = 'sign-in' | 'recovery'

/** Where the link of a recovery mail leads: to the sign-in page, which then asks for the new password. */
export const NEW_PASSWORD_PATH = '/login?new-password'

/** Turns a refusal into an exception, for callers that show its words. */
function requireSuccess({ error }: { error: AuthError | null }): void {
  if (error !== null) throw error
}

/** Asks for the mail. Whether there is such an account is not told, here as little as by the server. */
export async function requestMail(purpose: MailPurpose, email: string): Promise<void> {
  const client = await authClient()
  if (purpose === 'recovery') {
    requireSuccess(await client.resetPasswordForEmail(email, { redirectTo: location.origin + NEW_PASSWORD_PATH }))
    return
  }
  const options = { shouldCreateUser: false, emailRedirectTo: `${location.origin}/` }
  const { error } = await client.signInWithOtp({ email, options })
  if (error !== null && error.code !== 'otp_disabled') throw error
}

/** Signs in with the six digits of the mail, in place of its link. */
export async function verifyMailCode(purpose: MailPurpose, email: string, code: string): Promise<void> {
  const client = await authClient()
  const type = purpose === 'recovery' ? 'recovery' : 'email'
  requireSuccess(await client.verifyOtp({ email, token: code, type }))
}

export async function setNewPassword(password: string): Promise<void> {
  requireSuccess(await (await authClient()).updateUser({ password }))
}

/** Raises the session with a code of any of the person's authenticator apps. */
export async function verifyFactorCode(code: string): Promise<void> {
  const client = await authClient()
  const { data, error } = await client.mfa.listFactors()
  if (error !== null) throw error
  let refused: AuthError | null = null
  for (const { id } of data.totp) {
    ;({ error: refused } = await client.mfa.challengeAndVerify({ factorId: id, code }))
    if (refused === null) return
  }
  throw refused ?? new Error('There is no authenticator app to ask for a code.')
}

/** Sends a code to a phone of the person. Resolves with the challenge that it answers. */
export async function sendPhoneCode(factorId: string): Promise<string> {
  const { data, error } = await (await authClient()).mfa.challenge({ factorId, channel: 'sms' })
  if (error !== null) throw error
  return data.id
}

/** Raises the session with the code of a text message. */
export async function verifyPhoneCode(factorId: string, challengeId: string, code: string): Promise<void> {
  requireSuccess(await (await authClient()).mfa.verify({ factorId, challengeId, code }))
}

/** Raises the session with a recovery code, which is used up by it. */
export async function verifyRecoveryCode(code: string): Promise<void> {
  const client = await authClient()
  const answer = await fetchAuthEndpoint('POST', '/recovery-codes/verify', { code })
  requireSuccess(await client.setSession(parseTokens(answer)))
}

/** By hand, because the sign-in page is to be small and a schema library is not. */
function parseTokens(answer: unknown): { access_token: string; refresh_token: string } {
  const given: { access_token?: unknown; refresh_token?: unknown } =
    typeof answer === 'object' && answer !== null ? answer : {}
  const { access_token, refresh_token } = given
  if (typeof access_token === 'string' && typeof refresh_token === 'string') return { access_token, refresh_token }
  throw new Error('The server answered without a session.')
}

/** What the server says of a request that it refuses. */
export class AccountError extends Error {}

/** Asks one of our own endpoints of the auth service, which the client library does not know. */
export async function fetchAuthEndpoint(
  method: 'GET' | 'POST' | 'DELETE',
  at: string,
  body?: unknown,
): Promise<unknown> {
  const { data } = await (await authClient()).getSession()
  const response = await fetch(`/auth/v1${at}`, {
    method,
    headers: { authorization: `Bearer ${data.session?.access_token ?? ''}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const answer: unknown = response.status === 204 ? null : await response.json()
  if (!response.ok)
    throw new AccountError(errorMessageOf(answer) ?? `The server answered with status ${response.status}.`)
  return answer
}

const errorMessageOf = (answer: unknown): string | undefined =>
  typeof answer === 'object' && answer !== null && 'msg' in answer && typeof answer.msg === 'string'
    ? answer.msg
    : undefined
