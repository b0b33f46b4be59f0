import { type Context, type MiddlewareHandler } from 'hono'
import { getCookie } from 'hono/cookie'
import { AppError } from '#server/base/errors.ts'
import { isFromOwnPage } from './own-page.ts'
import { type TokenVerifier, type VerifiedClaims } from './tokens.ts'

/** Cookie that signing in sets beside the tokens, so that downloads and image tags are signed in too. */
export const SESSION_COOKIE = 'alcove-session'

export type PersonClaims = VerifiedClaims & { readonly role: 'authenticated'; readonly sub: string }

export interface SignedIn {
  Variables: { claims: PersonClaims }
}

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS'])

export function bearerOf(context: Context): string | undefined {
  return /^Bearer (\S+)$/i.exec(context.req.header('authorization') ?? '')?.[1]
}

/**
 * A cookie is sent by the browser whoever made the page, so with a cookie alone a request that changes something must
 * come from our own pages.
 */
function refuseForeignPage(context: Context, address: string): void {
  if (SAFE_METHODS.has(context.req.method) || isFromOwnPage(context, address)) return
  throw new AppError('forbidden', 'A request with only a cookie must come from this site.')
}

/**
 * Refuses what a page of another site leads a person to. Only browsers that say from where a request comes can be told apart;
 * others are let in as by {@link requirePerson}.
 */
export const refuseOtherSites: MiddlewareHandler = async (context, next) => {
  const site = context.req.header('sec-fetch-site')
  if (site !== undefined && site !== 'same-origin' && site !== 'none')
    throw new AppError('forbidden', 'This is given out only to a page of this site.')
  await next()
}

/**
 * Lets in who is signed in, by Bearer token or by cookie, and puts the claims into the context.
 * @param address where people reach this server: pages from there may write with the cookie.
 */
export function requirePerson(tokens: TokenVerifier, address: string): MiddlewareHandler<SignedIn> {
  return async function authenticate(context, next) {
    const bearer = bearerOf(context)
    const cookie = getCookie(context, SESSION_COOKIE)
    const token = bearer ?? cookie
    if (token === undefined) throw new AppError('unauthenticated', 'Sign in first.')
    const claims = await tokens.verify(token)
    if (claims.role !== 'authenticated' || claims.sub === undefined)
      throw new AppError('unauthenticated', 'Sign in first.')
    if (bearer === undefined) refuseForeignPage(context, address)
    context.set('claims', { ...claims, role: 'authenticated', sub: claims.sub })
    await next()
  }
}
