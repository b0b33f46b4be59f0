import { isAuthError, type AuthError, type UserIdentity } from '@supabase/auth-js'
import { queryOptions, type QueryClient } from '@tanstack/react-query'
import { z } from 'zod'
import { closingReceipt, openSession, type OpenSession } from '#contract/auth.ts'
import { ownAddress } from '#web/data/base-path.ts'
import { storeDeletionReceipt } from './deletion-receipt.ts'
import { refetch } from '#web/data/refetch.ts'
import { signOutLocally, authClient } from '#web/data/auth/session.ts'
import { AccountError, fetchAuthEndpoint, sendPhoneCode, verifyPhoneCode } from '#web/data/auth/sign-in.ts'

function requireSuccess({ error }: { error: AuthError | null }): void {
  if (error !== null) throw error
}

export function accountErrorMessage(error: unknown): string | null {
  if (isAuthError(error)) return error.status === undefined || error.status === 0 ? null : error.message
  return error instanceof AccountError ? error.message : null
}

export async function changeName(name: string): Promise<void> {
  requireSuccess(await (await authClient()).updateUser({ data: { display_name: name } }))
}

/** The address changes after the links in the mails to both addresses were followed. */
export async function changeEmail(email: string): Promise<void> {
  const client = await authClient()
  requireSuccess(await client.updateUser({ email }, { emailRedirectTo: ownAddress('/') }))
}

export type PasswordChange = { current: string; next: string; code: string }

/** Ends all other sessions. Resolves with `code-mailed` if the server has mailed a code that it requires first. */
export async function changePassword({ current, next, code }: PasswordChange): Promise<'changed' | 'code-mailed'> {
  const client = await authClient()
  const { error } = await client.updateUser({
    password: next,
    ...(current === '' ? {} : { current_password: current }),
    ...(code === '' ? {} : { nonce: code }),
  })
  if (error === null) return 'changed'
  if (error.code !== 'reauthentication_needed') throw error
  requireSuccess(await client.reauthenticate())
  return 'code-mailed'
}

export const sessionsQuery = queryOptions({
  queryKey: ['/auth/v1/sessions'],
  queryFn: async () => z.array(openSession).parse(await fetchAuthEndpoint('GET', '/sessions')),
})

export const refetchSessions = (queryClient: QueryClient): Promise<void> =>
  refetch(queryClient, { queryKey: sessionsQuery.queryKey })

export async function endSession(queryClient: QueryClient, { id }: OpenSession): Promise<void> {
  await fetchAuthEndpoint('DELETE', `/sessions/${id}`)
  await refetchSessions(queryClient)
}

export async function endOtherSessions(queryClient: QueryClient): Promise<void> {
  requireSuccess(await (await authClient()).signOut({ scope: 'others' }))
  await refetchSessions(queryClient)
}

export type Enrolment = { factorId: string; qrCode: string; secret: string }

/** The names of unverified factors would make a new enrolment fail. */
async function removeUnverifiedFactors(client: Awaited<ReturnType<typeof authClient>>): Promise<void> {
  const known = await client.mfa.listFactors()
  if (known.error !== null) throw known.error
  for (const { id, status } of known.data.all) {
    if (status === 'unverified') requireSuccess(await client.mfa.unenroll({ factorId: id }))
  }
}

export async function startEnrolment(friendlyName: string): Promise<Enrolment> {
  const client = await authClient()
  await removeUnverifiedFactors(client)
  const { data, error } = await client.mfa.enroll({ factorType: 'totp', friendlyName })
  if (error !== null) throw error
  return { factorId: data.id, qrCode: data.totp.qr_code, secret: data.totp.secret }
}

export async function startPhoneEnrolment(phone: string): Promise<{ factorId: string; challengeId: string }> {
  const client = await authClient()
  await removeUnverifiedFactors(client)
  // The sign-in page shows this name before the second factor, so it holds only the end of the number.
  const friendlyName = `Phone ending in ${phone.replaceAll(/\D/g, '').slice(-3)}`
  const { data, error } = await client.mfa.enroll({ factorType: 'phone', friendlyName, phone })
  if (error !== null) throw error
  return { factorId: data.id, challengeId: await sendPhoneCode(data.id) }
}

export async function finishPhoneEnrolment(
  queryClient: QueryClient,
  { factorId, challengeId, code }: { factorId: string; challengeId: string; code: string },
): Promise<void> {
  await verifyPhoneCode(factorId, challengeId, code)
  await refetchSessions(queryClient)
}

export async function verifyEnrolment(factorId: string, code: string): Promise<void> {
  requireSuccess(await (await authClient()).mfa.challengeAndVerify({ factorId, code }))
}

/** As `verifyEnrolment`; sessions without the second factor end. */
export async function finishEnrolment(queryClient: QueryClient, factorId: string, code: string): Promise<void> {
  await verifyEnrolment(factorId, code)
  await refetchSessions(queryClient)
}

export async function removeFactor(queryClient: QueryClient, factorId: string): Promise<void> {
  const client = await authClient()
  requireSuccess(await client.mfa.unenroll({ factorId }))
  // The token and the stored user still list the factor.
  requireSuccess(await client.refreshSession())
  await refetch(queryClient, { queryKey: recoveryCodesQuery.queryKey })
}

const recoveryCodes = z.object({ total: z.int(), remaining: z.int(), created_at: z.string().nullable() })

export const recoveryCodesQuery = queryOptions({
  queryKey: ['/auth/v1/recovery-codes'],
  queryFn: async () => recoveryCodes.parse(await fetchAuthEndpoint('GET', '/recovery-codes')),
})

/** Replaces the old set; the server does not show the codes again. */
export async function createRecoveryCodes(queryClient: QueryClient): Promise<string[]> {
  const { codes } = z.object({ codes: z.array(z.string()) }).parse(await fetchAuthEndpoint('POST', '/recovery-codes'))
  await refetch(queryClient, { queryKey: recoveryCodesQuery.queryKey })
  return codes
}

export async function unlinkIdentity(identity: UserIdentity): Promise<void> {
  const client = await authClient()
  requireSuccess(await client.unlinkIdentity(identity))
  requireSuccess(await client.refreshSession())
}

export async function closeAccount(proof: { confirmation: string; password: string }): Promise<void> {
  storeDeletionReceipt(closingReceipt.parse(await fetchAuthEndpoint('POST', '/account/close', proof)))
  await signOutLocally()
}

export type { UserIdentity }
