/** A pending sign-in is known by its state (RelayState, single use). The signed request id derives from the state. */
import { createHash, createHmac, randomBytes } from 'node:crypto'
import { AuthError } from '#server/auth/errors.ts'
import type { Challenge } from '#server/auth/pkce.ts'
import type { AuthService } from '#server/auth/service.ts'
import type { Scope } from '#server/database/scope.ts'

const LIFETIME_S = 600

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex')

export interface PendingSsoSignIn {
  readonly providerId: string
  readonly redirectTo: URL
  readonly pkce: Challenge | undefined
  /** A sign-in that ends in our own page must end in the browser that began it. */
  readonly isInOwnPage: boolean
}

/** XML ids begin with a letter or an underscore. */
const requestIdOf = ({ keys }: AuthService, state: string): string =>
  `_${createHmac('sha256', keys.signIns).update(`saml request ${state}`).digest('hex')}`

export async function beginSsoSignIn(
  service: AuthService,
  { providerId, redirectTo, pkce, isInOwnPage }: PendingSsoSignIn,
): Promise<{ relayState: string; requestId: string }> {
  const relayState = randomBytes(32).toString('base64url')
  await service.database.asAuth((scope) =>
    scope.query(
      `insert into auth.saml_sign_ins
         (state_hash, sso_provider_id, redirect_to, code_challenge_method, code_challenge, in_own_page)
       values ($1, $2, $3, $4, $5, $6)`,
      [digestOf(relayState), providerId, redirectTo.href, pkce?.method ?? null, pkce?.challenge ?? null, isInOwnPage],
    ),
  )
  return { relayState, requestId: requestIdOf(service, relayState) }
}

interface Row {
  readonly sso_provider_id: string
  readonly redirect_to: string
  readonly code_challenge: string | null
  readonly code_challenge_method: Challenge['method'] | null
  readonly in_own_page: boolean
}

/** Undefined if the state is unknown, used or expired. */
export async function useSsoSignIn(
  service: AuthService,
  relayState: string,
): Promise<(PendingSsoSignIn & { readonly requestId: string }) | undefined> {
  const taken = await service.database.asAuth((scope) =>
    scope.query<Row>(
      `delete from auth.saml_sign_ins where state_hash = $1 and created_at > now() - make_interval(secs => $2)
       returning sso_provider_id, redirect_to, code_challenge, code_challenge_method, in_own_page`,
      [digestOf(relayState), LIFETIME_S],
    ),
  )
  const row = taken.rows[0]
  if (row === undefined) return undefined
  const { code_challenge: challenge, code_challenge_method: method } = row
  return {
    providerId: row.sso_provider_id,
    redirectTo: new URL(row.redirect_to),
    pkce: challenge === null || method === null ? undefined : { challenge, method },
    isInOwnPage: row.in_own_page,
    requestId: requestIdOf(service, relayState),
  }
}

/** @throws AuthError `validation_failed` for a replayed assertion, across all nodes. */
export async function useAssertion(
  scope: Scope,
  { issuer, assertionId, endsAt }: { issuer: string; assertionId: string; endsAt: Date },
): Promise<void> {
  const used = await scope.query(
    'insert into auth.saml_assertions (id_hash, ends_at) values ($1, $2) on conflict do nothing',
    [digestOf(`${issuer} ${assertionId}`), endsAt],
  )
  if (used.rowCount !== 1) throw new AuthError('validation_failed', 'SAML Assertion was used before')
}
