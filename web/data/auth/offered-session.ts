/** A session that an address brought: opened only after a click that names its account, and never over an open one. */
import type { AuthClient, Session } from '@supabase/auth-js'

type Client = InstanceType<typeof AuthClient>
type Tokens = { accessToken: string; refreshToken: string }

export type OfferedSession = { userId: string; email: string; tokens: Tokens }

/** @param detached a client without storage. @returns null if the server does not accept the token */
export async function describeOffer(detached: Client, tokens: Tokens): Promise<OfferedSession | null> {
  const { data, error } = await detached.getUser(tokens.accessToken)
  if (error !== null) {
    console.error(error)
    return null
  }
  return { userId: data.user.id, email: data.user.email ?? '', tokens }
}

/** Both tokens must belong to the named account. @throws if they do not, or are not accepted */
export async function redeemOffer(detached: Client, { userId, tokens }: OfferedSession): Promise<Session> {
  const { data, error } = await detached.refreshSession({ refresh_token: tokens.refreshToken })
  if (error !== null) throw error
  const { session } = data
  if (session !== null && session.user.id === userId) return session
  await detached.signOut({ scope: 'local' })
  throw new Error('This link does not lead into the account that it names.')
}

export async function revokeOffer(detached: Client, { tokens }: OfferedSession): Promise<void> {
  const { error } = await detached.admin.signOut(tokens.accessToken, 'local')
  if (error !== null) console.error(error)
}
