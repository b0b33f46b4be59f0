import { type Context, type MiddlewareHandler } from 'hono'
import { getCookie } from 'hono/cookie'
import { AppError } from '#server/base/errors.ts'
import { type Tokens, type VerifiedClaims } from './tokens.ts'

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
function refuseForeignOrigin(context: Context): void {
  if (SAFE_METHODS.has(context.req.method)) return
  const origin = context.req.header('origin')
  const host = context.req.header('host')
  if (origin !== undefined && host !== undefined && URL.canParse(origin) && new URL(origin).host === host) return
  throw new AppError('forbidden', 'A request with only a cookie must come from this site.')
}

/** Lets in who is signed in, by Bearer token or by cookie, and puts the claims into the context. */
export function requirePerson(tokens: Tokens): MiddlewareHandler<SignedIn> {
  return async function authenticate(context, next) {
    const bearer = bearerOf(context)
    const cookie = getCookie(context, SESSION_COOKIE)
    const token = bearer ?? cookie
    if (token === undefined) throw new AppError('unauthenticated', 'Sign in first.')
    const claims = await tokens.verify(token)
    if (claims.role !== 'authenticated' || claims.sub === undefined)
      throw new AppError('unauthenticated', 'Sign in first.')
    if (bearer === undefined) refuseForeignOrigin(context)
    context.set('claims', { ...claims, role: 'authenticated', sub: claims.sub })
    await next()
  }
}
