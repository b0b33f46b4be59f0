import { RealtimeClient } from '@supabase/realtime-js'
import { accessToken, anonKey, onSessionEvent, type AuthChangeEvent } from '#web/data/auth/session.ts'
import { config } from '#web/data/config.ts'
import { logFailure } from './log-failure.ts'

const NEW_TOKEN_EVENTS = new Set<AuthChangeEvent>(['TOKEN_REFRESHED', 'SIGNED_IN', 'MFA_CHALLENGE_VERIFIED'])

let current: RealtimeClient | null = null
let renewing: Promise<void> = Promise.resolve()

/** The page's one socket; a new one after a sign-out. */
export function realtimeClient(): RealtimeClient {
  if (current !== null) return current
  const address = new URL(`${config().supabaseUrl}/realtime/v1`, location.origin)
  address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:'
  const client = new RealtimeClient(address.href, { params: { apikey: anonKey() }, accessToken })
  const unsubscribe = onSessionEvent((event) => {
    if (NEW_TOKEN_EVENTS.has(event)) logFailure(renewToken(client))
    if (event !== 'SIGNED_OUT') return
    // Leaving takes a while. The next person's channels need another client, or they close together with the old ones.
    unsubscribe()
    current = null
    logFailure(client.removeAllChannels())
  })
  current = client
  return client
}

/** Renews serially: of two overlapping calls the client drops one token, and a channel would join without any. */
export function renewToken(client: RealtimeClient): Promise<void> {
  const renew = (): Promise<void> => client.setAuth()
  renewing = renewing.then(renew, renew)
  return renewing
}
