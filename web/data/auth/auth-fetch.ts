/** Requests of the auth client: one refresh at a time over all tabs of the browser, and none more while the server limits them. */

import { ownName } from '#web/data/base-path.ts'
import { withLock } from '#web/data/storage/page-lock.ts'

interface Session {
  /** As of the session store. */
  readonly replacementOf: (refreshToken: string) => string | null
  /** A new access token in place of one that the server rejects; null if there is none. */
  readonly renew: (rejected: string) => Promise<string | null>
}

const REFRESH = 'grant_type=refresh_token'
const LOCK = ownName('alcove-refresh')
const STORE_CHECK_INTERVAL_MS = 20
const MAX_STORE_CHECKS = 50
const FIRST_WAIT_S = 2
const MAX_WAIT_S = 300
const TOO_MANY_REQUESTS = 429
const FORBIDDEN = 403

export function createAuthFetch(session: Session): typeof fetch {
  return async (input, init = {}) => {
    const address = input instanceof Request ? input.url : input.toString()
    if (!address.includes(REFRESH) || typeof init.body !== 'string') {
      const response = await fetch(input, init)
      if (response.status !== FORBIDDEN) return response
      // Loaded late, as sign-in pages have no use for it.
      const { repeatRenewed } = await import('./repeat-renewed.ts')
      return repeatRenewed(session.renew, response, input, init)
    }
    const { refresh_token: token } = JSON.parse(init.body) as { refresh_token: string }
    const refresh = (): Promise<Response> => refreshOnce(session.replacementOf, token, () => fetch(input, init))
    // Where the browser has no locks, the server answers both tabs with the same tokens.
    return new Promise((resolve, reject) => {
      const act = async (): Promise<void> => {
        const response = await refresh()
        resolve(response)
        if (response.ok) await untilStored(session.replacementOf, token)
      }
      withLock(LOCK, act).catch(reject)
    })
  }
}

/** The auth client stores the tokens after it has the answer; another tab must not read the old ones until then. */
async function untilStored(replacementOf: Session['replacementOf'], token: string): Promise<void> {
  for (let check = 0; check < MAX_STORE_CHECKS && replacementOf(token) === null; check += 1)
    await new Promise((resolve) => setTimeout(resolve, STORE_CHECK_INTERVAL_MS))
}

/** The auth client would take a limit for the end of the session, and one that another tab has renewed for stolen. */
async function refreshOnce(
  replacementOf: Session['replacementOf'],
  token: string,
  send: () => Promise<Response>,
): Promise<Response> {
  for (let waitS = FIRST_WAIT_S; ; waitS = Math.min(2 * waitS, MAX_WAIT_S)) {
    const replacement = replacementOf(token)
    if (replacement !== null) return new Response(replacement)
    const response = await send()
    if (response.ok) return withLocalExpiry(response)
    if (response.status !== TOO_MANY_REQUESTS) return response
    const wantedS = Number(response.headers.get('retry-after'))
    const pauseS = wantedS > 0 ? Math.min(wantedS, MAX_WAIT_S) : waitS
    await new Promise((resolve) => setTimeout(resolve, 1000 * pauseS))
  }
}

/** The auth client compares the expiry with the browser's clock at once, before it reads the session from the store. */
async function withLocalExpiry(response: Response): Promise<Response> {
  const session = (await response.json()) as { expires_in: number }
  return Response.json({ ...session, expires_at: Math.floor(Date.now() / 1000) + session.expires_in })
}
