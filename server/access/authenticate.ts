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

/** Undefined for a request without a token. @throws AppError `unauthenticated` for a token that is not a person's */
async function readPerson(context: Context, tokens: TokenVerifier, address: string): Promise<PersonClaims | undefined> {
  const bearer = bearerOf(context)
  const token = bearer ?? getCookie(context, sessionCookieOf(address))
  if (token === undefined) return undefined
  const claims = await tokens.verify(token)
  if (claims.role !== 'authenticated' || claims.sub === undefined)
    throw new AppError('unauthenticated', 'Sign in first.')
  if (bearer === undefined) rejectForeignPage(context, address)
  return { ...claims, role: 'authenticated', sub: claims.sub }
}

/** For a read that some people may make without an account: undefined also for a session that has ended. */
export async function findPerson(
  context: Context,
  tokens: TokenVerifier,
  address: string,
): Promise<PersonClaims | undefined> {
  try {
    return await readPerson(context, tokens, address)
  } catch (error) {
    if (error instanceof AppError && error.code === 'unauthenticated') return undefined
    throw error
  }
}

/** Requires a Bearer token or cookie. Pages of `address`, the public address, may write with the cookie. */
export function requirePerson(tokens: TokenVerifier, address: string): MiddlewareHandler<SignedIn> {
  return async function authenticate(context, next) {
    const claims = await readPerson(context, tokens, address)
    if (claims === undefined) throw new AppError('unauthenticated', 'Sign in first.')
    context.set('claims', claims)
    await next()
  }
}
