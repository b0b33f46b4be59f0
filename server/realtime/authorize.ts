/** Verifies tokens and reads topic permissions from the policies of `realtime.messages`. */
import { decodeJwt } from 'jose'
import { SESSION_ENDED } from '#contract/auth.ts'
import { isOpaqueKey } from '#server/access/authenticate.ts'
import type { TokenVerifier, VerifiedClaims } from '#server/access/tokens.ts'
import { AppError, codeOf } from '#server/base/errors.ts'
import type { Claims, Database, Scope } from '#server/database/scope.ts'
import { STATEMENT_TIMEOUT_MS } from '#server/database/timeouts.ts'
import { Rejection } from './rejection.ts'

interface Permission {
  readonly read: boolean
  readonly write: boolean
}
export interface TopicPermissions {
  readonly broadcast: Permission
  readonly presence: Permission
}

const ALLOWED = { read: true, write: true }
const DENIED = { read: false, write: false }
export const PUBLIC_TOPIC: TopicPermissions = { broadcast: ALLOWED, presence: ALLOWED }
/** A public channel where these are refused. */
export const CHANGES_ONLY: TopicPermissions = { broadcast: DENIED, presence: DENIED }
export const PRIVATE_ONLY = 'This project only allows private channels'

const INSUFFICIENT_PRIVILEGE = '42501'

export const expiryText = (exp: number): string =>
  `Token has expired ${Math.max(0, Math.floor(Date.now() / 1000 - exp))} seconds ago`

/** Undefined for an opaque key, so the connection's key applies. */
export const usableToken = (token: string | null | undefined): string | undefined =>
  token == null || token === '' || isOpaqueKey(token) ? undefined : token

/** @throws Rejection with realtime-js's code for an invalid token. */
export async function verifyToken(tokens: TokenVerifier, token: string): Promise<VerifiedClaims> {
  try {
    return await tokens.verify(token)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const claims = decodeClaims(token)
    if (!claims) throw new Rejection('MalformedJWT', 'The token provided is not a valid JWT', { cause: error })
    if (error.details?.['reason'] === 'expired') {
      throw new Rejection('InvalidJWTToken', expiryText(claims.exp ?? 0), { cause: error })
    }
    if (claims.exp === undefined || claims['role'] === undefined) {
      throw new Rejection('InvalidJWTToken', 'Fields `role` and `exp` are required in JWT', { cause: error })
    }
    if (error.details?.['reason'] === 'ended') {
      throw new Rejection('InvalidJWTToken', SESSION_ENDED, { cause: error })
    }
    throw new Rejection('JwtSignatureError', 'Failed to validate JWT signature', { cause: error })
  }
}

function decodeClaims(token: string) {
  try {
    return decodeJwt(token)
  } catch {
    return undefined
  }
}

class RolledBack extends Error {}

/** Policies decide what a probe costs. */
const PROBE_OPTIONS = { settings: { statement_timeout: String(STATEMENT_TIMEOUT_MS) } }

/** Evaluates policies with probe rows: the service inserts one, the caller selects and inserts. Always rolls back. */
export async function probeTopicPermissions(
  database: Database,
  claims: Claims,
  topic: string,
): Promise<TopicPermissions> {
  let found: TopicPermissions = { broadcast: DENIED, presence: DENIED }
  try {
    await database.asService(async (scope) => {
      const probes = await scope.query<{ id: string }>(
        `insert into realtime.messages (topic, extension, private)
         values ($1, 'broadcast', true), ($1, 'presence', true) returning id`,
        [topic],
      )
      await scope.query(
        `select set_config('role', $1, true), set_config('request.jwt.claims', $2, true), set_config('realtime.topic', $3, true)`,
        [claims.role, JSON.stringify(claims), topic],
      )
      const readable = await scope.query<{ extension: string }>(
        'select extension from realtime.messages where id = any ($1)',
        [probes.rows.map(({ id }) => id)],
      )
      const reads = new Set(readable.rows.map(({ extension }) => extension))
      found = {
        broadcast: { read: reads.has('broadcast'), write: await mayInsert(scope, topic, 'broadcast') },
        presence: { read: reads.has('presence'), write: await mayInsert(scope, topic, 'presence') },
      }
      throw new RolledBack()
    }, PROBE_OPTIONS)
  } catch (error) {
    if (!(error instanceof RolledBack)) throw error
  }
  return found
}

/** Those topics to which the caller may broadcast, by one statement. */
export async function writableTopics(
  database: Database,
  claims: Claims,
  topics: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await database.userStatement<{ topic: string }>(claims, {
    text: 'select topic from realtime.writable_topics($1) as topic',
    values: [topics],
  })
  return new Set(rows.map(({ topic }) => topic))
}

async function mayInsert(scope: Scope, topic: string, extension: string): Promise<boolean> {
  await scope.query('savepoint probe')
  try {
    await scope.query('insert into realtime.messages (topic, extension, private) values ($1, $2, true)', [
      topic,
      extension,
    ])
    return true
  } catch (error) {
    if (codeOf(error) !== INSUFFICIENT_PRIVILEGE) throw error
    return false
  } finally {
    await scope.query('rollback to savepoint probe')
  }
}
