import type { Context, MiddlewareHandler } from 'hono'
import { getCookie } from 'hono/cookie'
import { AppError } from '#server/base/errors.ts'
import { isFromOwnPage } from './own-page.ts'
import { cookieNameOf } from './public-path.ts'
import type { TokenVerifier, VerifiedClaims } from './tokens.ts'

/** The name of the cookie with the access token. */
export const sessionCookieOf = (address: string): string => cookieNameOf('alcove-session', address)

export type PersonClaims = VerifiedClaims & { readonly role: 'authenticated'; readonly sub: string }

export interface SignedIn {
  Variables: { claims: PersonClaims }
}

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS'])

export function bearerOf(context: Context): string | undefined {
  return /^Bearer (\S+)$/i.exec(context.req.header('authorization') ?? '')?.[1]
}

/** Opaque API keys begin with `sb_` and are not JWTs. */
export const isOpaqueKey = (text: string): boolean => text.startsWith('sb_')

/** For the services of the official clients: prefers the Bearer token to the API key. */
export function tokenOrApiKeyOf(context: Context): string | undefined {
  const given = [bearerOf(context), context.req.header('apikey')]
  return given.find((text) => text !== undefined && text !== '' && !isOpaqueKey(text))
}

/** Browsers send the cookie from any page, so a write by cookie alone must come from a script of Alcove's own pages. */
function rejectForeignPage(context: Context, address: string): void {
  if (SAFE_METHODS.has(context.req.method)) return
  // Our pages never submit a form to the API.
  const isForm = context.req.header('sec-fetch-mode') === 'navigate'
  if (!isForm && isFromOwnPage(context, address)) return
  throw new AppError('forbidden', 'A request with only a cookie must come from this site.')
}

/** Browsers without `sec-fetch-site` are admitted. */
export const rejectOtherSites: MiddlewareHandler = async (context, next) => {
  const site = context.req.header('sec-fetch-site')
  if (site !== undefined && site !== 'same-origin' && site !== 'none')
    throw new AppError('forbidden', 'This is given out only to a page of this site.')
  await next()
}

/** Requires a Bearer token or cookie. Pages of `address`, the public address, may write with the cookie. */
export function requirePerson(tokens: TokenVerifier, address: string): MiddlewareHandler<SignedIn> {
  const sessionCookie = sessionCookieOf(address)
  return async function authenticate(context, next) {
    const bearer = bearerOf(context)
    const cookie = getCookie(context, sessionCookie)
    const token = bearer ?? cookie
    if (token === undefined) throw new AppError('unauthenticated', 'Sign in first.')
    const claims = await tokens.verify(token)
    if (claims.role !== 'authenticated' || claims.sub === undefined)
      throw new AppError('unauthenticated', 'Sign in first.')
    if (bearer === undefined) rejectForeignPage(context, address)
    context.set('claims', { ...claims, role: 'authenticated', sub: claims.sub })
    await next()
  }
}
