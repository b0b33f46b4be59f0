/** A state works once, in the browser that began: an attacker cannot make a victim finish a sign-in. */
import { createHash, createHmac, randomBytes } from 'node:crypto'
import type { Context } from 'hono'
import { getCookie, setCookie } from 'hono/cookie'
import { basePathOf, cookieNameOf } from '#server/access/public-path.ts'
import type { Scope } from '#server/database/scope.ts'
import type { Challenge } from './pkce.ts'
import type { SignInSecrets } from './providers/provider.ts'
import type { AuthService } from './service.ts'

/** The name of the cookie with the secret of the browser. */
const cookieOf = ({ settings }: Pick<AuthService, 'settings'>): string =>
  cookieNameOf('alcove-sign-in', settings.siteUrl)
const LIFETIME_S = 600

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Derived from the state and a server key, so that neither nonce nor verifier is stored. */
function deriveSecrets(key: Buffer, state: string): SignInSecrets {
  const derive = (purpose: string) => createHmac('sha256', key).update(`${purpose} ${state}`).digest('base64url')
  return { state, nonce: derive('nonce'), verifier: derive('verifier') }
}

export function knownBrowserSecret(context: Context, service: AuthService): string | undefined {
  const known = getCookie(context, cookieOf(service))
  return known !== undefined && /^[\w-]{43}$/.test(known) ? known : undefined
}

/** Shared by all pending sign-ins of this browser. */
export function browserSecret(context: Context, service: AuthService): string {
  const { settings } = service
  const secret = knownBrowserSecret(context, service) ?? randomBytes(32).toString('base64url')
  setCookie(context, cookieOf(service), secret, {
    path: `${basePathOf(settings.siteUrl)}/auth/v1`,
    httpOnly: true,
    // Browsers omit strict cookies when the provider redirects back.
    sameSite: 'Lax',
    secure: settings.secureCookies,
    maxAge: LIFETIME_S,
  })
  return secret
}

export interface PendingSignIn {
  readonly provider: string
  readonly redirectTo: URL
  readonly pkce: Challenge | undefined
  /** Undefined for a sign-in without linking. */
  readonly linkingUserId: string | undefined
}

export interface StartedSignIn extends PendingSignIn {
  readonly secrets: SignInSecrets
}

export async function beginSignIn(
  context: Context,
  service: AuthService,
  { provider, redirectTo, pkce, linkingUserId }: PendingSignIn,
): Promise<SignInSecrets> {
  const state = randomBytes(32).toString('base64url')
  const browser = browserSecret(context, service)
  await service.database.asAuth((scope) =>
    scope.query(
      `insert into auth.oauth_sign_ins
         (state_hash, browser_hash, provider, redirect_to, code_challenge_method, code_challenge, linking_user_id)
       values ($1, $2, $3, $4, $5, $6, $7)`,
      [
        digestOf(state),
        digestOf(browser),
        provider,
        redirectTo.href,
        pkce?.method ?? null,
        pkce?.challenge ?? null,
        linkingUserId ?? null,
      ],
    ),
  )
  return deriveSecrets(service.keys.signIns, state)
}

interface Row {
  readonly provider: string
  readonly redirect_to: string
  readonly code_challenge: string | null
  readonly code_challenge_method: Challenge['method'] | null
  readonly linking_user_id: string | null
}

/** Undefined if the state is unknown, used, expired or of another browser. */
export async function useSignIn(
  context: Context,
  service: AuthService,
  state: string,
): Promise<StartedSignIn | undefined> {
  const { database, keys } = service
  const browser = getCookie(context, cookieOf(service))
  if (state === '' || browser === undefined) return undefined
  const used = await database.asAuth((scope) => takeRow(scope, state, browser))
  if (used === undefined) return undefined
  const { code_challenge: challenge, code_challenge_method: method } = used
  return {
    provider: used.provider,
    redirectTo: new URL(used.redirect_to),
    pkce: challenge === null || method === null ? undefined : { challenge, method },
    linkingUserId: used.linking_user_id ?? undefined,
    secrets: deriveSecrets(keys.signIns, state),
  }
}

async function takeRow(scope: Scope, state: string, browser: string): Promise<Row | undefined> {
  const taken = await scope.query<Row>(
    `delete from auth.oauth_sign_ins
     where state_hash = $1 and browser_hash = $2 and created_at > now() - make_interval(secs => $3)
     returning provider, redirect_to, code_challenge, code_challenge_method, linking_user_id`,
    [digestOf(state), digestOf(browser), LIFETIME_S],
  )
  return taken.rows[0]
}
