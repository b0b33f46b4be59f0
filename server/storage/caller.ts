import type { Context } from 'hono'
import { bearerOf } from '#server/access/authenticate.ts'
import type { TokenVerifier, VerifiedClaims } from '#server/access/tokens.ts'
import type { Claims, Database, Scope } from '#server/database/scope.ts'
import { StorageError } from './errors.ts'

/** Opaque API keys begin with `sb_` and are not JWTs. */
const isToken = (text: string | undefined): text is string =>
  text !== undefined && text !== '' && !text.startsWith('sb_')

/** Prefers the Bearer token to the API key. @throws StorageError `AccessDenied`, AppError `unauthenticated` */
export async function verifyCaller(context: Context, tokens: TokenVerifier): Promise<VerifiedClaims> {
  const token = [bearerOf(context), context.req.header('apikey')].find(isToken)
  if (token === undefined) throw new StorageError('AccessDenied', 'No API key found in request')
  return tokens.verify(token)
}

const STATEMENT_SETTINGS = { statement_timeout: '8000' }

export const asCaller = <T>(
  database: Database,
  claims: Claims,
  run: (scope: Scope) => Promise<T>,
  { readOnly = false } = {},
): Promise<T> => database.asUser(claims, run, { readOnly, settings: STATEMENT_SETTINGS })
