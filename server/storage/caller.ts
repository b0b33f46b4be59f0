import type { Context } from 'hono'
import type { z } from 'zod'
import { tokenOrApiKeyOf } from '#server/access/authenticate.ts'
import type { TokenVerifier, VerifiedClaims } from '#server/access/tokens.ts'
import { validate } from '#server/base/validate.ts'
import type { Claims, Database, Scope } from '#server/database/scope.ts'
import { StorageError } from './errors.ts'
import { readJson } from './json-body.ts'

function requireToken(context: Context): string {
  const token = tokenOrApiKeyOf(context)
  if (token === undefined) throw new StorageError('AccessDenied', 'No API key found in request')
  return token
}

/** @throws StorageError `AccessDenied`, AppError `unauthenticated` */
export async function verifyCaller(context: Context, tokens: TokenVerifier): Promise<VerifiedClaims> {
  return tokens.verify(requireToken(context))
}

/**
 * The body is received before the token is checked: a session may end while its client sends slowly.
 * @throws StorageError `AccessDenied`, `EntityTooLarge`, AppError `unauthenticated`, `bad_request`
 */
export async function readRequest<Schema extends z.ZodType>(
  context: Context,
  tokens: TokenVerifier,
  schema: Schema,
): Promise<{ readonly claims: VerifiedClaims; readonly request: z.output<Schema> }> {
  const token = requireToken(context)
  const body = await readJson(context)
  const claims = await tokens.verify(token)
  return { claims, request: validate(schema, body) }
}

export const asCaller = <T>(
  database: Database,
  claims: Claims,
  run: (scope: Scope) => Promise<T>,
  { readOnly = false } = {},
): Promise<T> => database.asUser(claims, run, { readOnly })
