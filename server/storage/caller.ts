import type { Context } from 'hono'
import { tokenOrApiKeyOf } from '#server/access/authenticate.ts'
import type { TokenVerifier, VerifiedClaims } from '#server/access/tokens.ts'
import type { Claims, Database, Scope } from '#server/database/scope.ts'
import { StorageError } from './errors.ts'

/** @throws StorageError `AccessDenied`, AppError `unauthenticated` */
export async function verifyCaller(context: Context, tokens: TokenVerifier): Promise<VerifiedClaims> {
  const token = tokenOrApiKeyOf(context)
  if (token === undefined) throw new StorageError('AccessDenied', 'No API key found in request')
  return tokens.verify(token)
}

export const asCaller = <T>(
  database: Database,
  claims: Claims,
  run: (scope: Scope) => Promise<T>,
  { readOnly = false } = {},
): Promise<T> => database.asUser(claims, run, { readOnly })
