import type { AuthError } from '@supabase/auth-js'
import { ownAddress, ownPath } from '#web/data/base-path.ts'
import { accessToken, authClient, fetchWithRenewal } from './session.ts'

export type MailPurpose = 'sign-in' | 'recovery'

/** A recovery mail links to the sign-in page, which then asks for a new password. */
export const NEW_PASSWORD_PATH = '/login?new-password'

function requireSuccess({ error }: { error: AuthError | null }): void {
  if (error !== null) throw error
}

/** Requests a mail. Neither the server nor this function reveals whether the account exists. */
export async function requestMail(purpose: MailPurpose, email: string): Promise<void> {
  const client = await authClient()
  if (purpose === 'recovery') {
    requireSuccess(await client.resetPasswordForEmail(email, { redirectTo: ownAddress(NEW_PASSWORD_PATH) }))
    return
  }
  const options = { shouldCreateUser: false, emailRedirectTo: ownAddress('/login') }
  const { error } = await client.signInWithOtp({ email, options })
  if (error !== null && error.code !== 'otp_disabled') throw error
}

export async function verifyMailCode(purpose: MailPurpose, email: string, code: string): Promise<void> {
  const client = await authClient()
  const type = purpose === 'recovery' ? 'recovery' : 'email'
  requireSuccess(await client.verifyOtp({ email, token: code, type }))
}

export async function setNewPassword(password: string): Promise<void> {
  requireSuccess(await (await authClient()).updateUser({ password }))
}

/** Verifies a code against each authenticator app. @throws the last error if none accepts it */
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

/** @returns the id of the challenge */
export async function sendPhoneCode(factorId: string): Promise<string> {
  const { data, error } = await (await authClient()).mfa.challenge({ factorId, channel: 'sms' })
  if (error !== null) throw error
  return data.id
}

export async function verifyPhoneCode(factorId: string, challengeId: string, code: string): Promise<void> {
  requireSuccess(await (await authClient()).mfa.verify({ factorId, challengeId, code }))
}

export async function verifyRecoveryCode(code: string): Promise<void> {
  const client = await authClient()
  const answer = await fetchAuthEndpoint('POST', '/recovery-codes/verify', { code })
  requireSuccess(await client.setSession(parseTokens(answer)))
}

function parseTokens(answer: unknown): { access_token: string; refresh_token: string } {
  const given: { access_token?: unknown; refresh_token?: unknown } =
    typeof answer === 'object' && answer !== null ? answer : {}
  const { access_token, refresh_token } = given
  if (typeof access_token === 'string' && typeof refresh_token === 'string') return { access_token, refresh_token }
  throw new Error('The server answered without a session.')
}

export class AccountError extends Error {}

/** Calls an endpoint that the client library does not know. @throws AccountError if the server rejects the request */
export async function fetchAuthEndpoint(
  method: 'GET' | 'POST' | 'DELETE',
  at: string,
  body?: unknown,
): Promise<unknown> {
  await authClient()
  const response = await fetchWithRenewal(ownPath(`/auth/v1${at}`), {
    method,
    headers: { authorization: `Bearer ${(await accessToken()) ?? ''}`, 'content-type': 'application/json' },
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
