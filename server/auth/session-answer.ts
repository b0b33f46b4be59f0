import type { Context } from 'hono'
import { deleteCookie, setCookie } from 'hono/cookie'
import { sessionCookieOf } from '#server/access/authenticate.ts'
import { isFromOwnPage } from '#server/access/own-page.ts'
import { basePathOf } from '#server/access/public-path.ts'
import { noteAccount } from './event-log.ts'
import type { AuthService, AuthSettings } from './service.ts'
import type { Grant } from './sessions.ts'
import { userAnswer } from './user-answer.ts'

const ACCESS_TOKEN_LIFETIME_S = 3600
/** Browsers silently drop cookies above 4096 bytes, including name and attributes. */
const MAX_COOKIE_VALUE_LENGTH = 3800
/** Servers reject headers above 16 kB, so large metadata could lock a person out. */
const MAX_TOKEN_LENGTH = 8_000

const authUrlOf = ({ siteUrl }: AuthSettings): string => `${siteUrl}/auth/v1`

function signAccessToken({ tokens, settings }: AuthService, { account, session }: Grant, issuedAt: number) {
  const claims = {
    iss: authUrlOf(settings),
    sub: account.id,
    aud: account.aud,
    iat: issuedAt,
    exp: issuedAt + ACCESS_TOKEN_LIFETIME_S,
    role: account.role,
    email: account.email ?? '',
    phone: account.phone ?? '',
    app_metadata: account.raw_app_meta_data,
    session_id: session.id,
    aal: session.aal,
    amr: session.amr,
    is_anonymous: account.is_anonymous,
  }
  return {
    full: () => tokens.sign({ ...claims, user_metadata: account.raw_user_meta_data }),
    short: () => tokens.sign({ ...claims, user_metadata: {} }),
  }
}

/** Another site may post to us without reading the answer; it must not sign its visitors in or out. */
function isOurOwnPage(context: Context, { siteUrl }: AuthSettings): boolean {
  return context.req.header('origin') === undefined || isFromOwnPage(context, siteUrl)
}

const cookieOptions = ({ siteUrl, secureCookies }: AuthSettings) =>
  ({ path: basePathOf(siteUrl) || '/', httpOnly: true, sameSite: 'Lax', secure: secureCookies }) as const

export interface SessionAnswer {
  readonly access_token: string
  readonly token_type: 'bearer'
  readonly expires_in: number
  readonly expires_at: number
  readonly refresh_token: string
  readonly user: Record<string, unknown>
}

/**
 * Returns the session for a redirect. Sets no cookie: any site can lead a browser to such an address, and the cookie would
 * replace the visitor's own. The page sets it by a request of its own.
 */
export async function describeSession(context: Context, service: AuthService, grant: Grant): Promise<SessionAnswer> {
  const { answer } = await signSession(context, service, grant)
  return answer
}

/** Sets the cookie and returns the body. */
export async function grantSession(context: Context, service: AuthService, grant: Grant): Promise<SessionAnswer> {
  const { settings } = service
  const { answer, shortToken } = await signSession(context, service, grant)
  if (isOurOwnPage(context, settings)) {
    const token = answer.access_token
    const fitting = token.length > MAX_COOKIE_VALUE_LENGTH ? await shortToken() : token
    setCookie(context, sessionCookieOf(settings.siteUrl), fitting, {
      ...cookieOptions(settings),
      maxAge: ACCESS_TOKEN_LIFETIME_S,
    })
  }
  return answer
}

async function signSession(context: Context, service: AuthService, grant: Grant) {
  noteAccount(context, grant.account.id)
  const issuedAt = Math.floor(Date.now() / 1000)
  const sign = signAccessToken(service, grant, issuedAt)
  const full = await sign.full()
  const answer: SessionAnswer = {
    access_token: full.length > MAX_TOKEN_LENGTH ? await sign.short() : full,
    token_type: 'bearer',
    expires_in: ACCESS_TOKEN_LIFETIME_S,
    expires_at: issuedAt + ACCESS_TOKEN_LIFETIME_S,
    refresh_token: grant.refreshToken,
    user: userAnswer(grant.account),
  }
  return { answer, shortToken: sign.short }
}

export function clearSessionCookie(context: Context, settings: AuthSettings): void {
  if (isOurOwnPage(context, settings)) deleteCookie(context, sessionCookieOf(settings.siteUrl), cookieOptions(settings))
}
