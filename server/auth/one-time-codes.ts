/**
 * One-time codes of mails: a link token and six digits, valid once and for a limited time. Each change of them locks the
 * account first, since several links of one account may be followed at once while further mails are asked for.
 */
import { createHash, createHmac, randomBytes, randomInt, randomUUID, timingSafeEqual } from 'node:crypto'
import type { Scope } from '#server/database/scope.ts'
import { beginFlow, type Challenge, type FlowMethod } from './pkce.ts'

export type CodeKind =
  | 'confirmation_token'
  | 'recovery_token'
  | 'reauthentication_token'
  | 'email_change_token_current'
  | 'email_change_token_new'

export const LIFETIME_S: Readonly<Record<CodeKind, number>> = {
  confirmation_token: 86_400,
  recovery_token: 3600,
  reauthentication_token: 3600,
  email_change_token_current: 86_400,
  email_change_token_new: 86_400,
}
const SENT_AT: Record<CodeKind, string> = {
  confirmation_token: 'confirmation_sent_at',
  recovery_token: 'recovery_sent_at',
  reauthentication_token: 'reauthentication_sent_at',
  email_change_token_current: 'email_change_sent_at',
  email_change_token_new: 'email_change_sent_at',
}
const MAX_ATTEMPTS = 5

export interface IssuedCode {
  /** 256 bits. */
  readonly token: string
  readonly code: string
}

const digestOf = (token: string): string => createHash('sha256').update(token).digest('hex')
const keyedDigestOf = (key: Buffer, email: string, code: string): Buffer =>
  createHmac('sha256', key).update(`${email} ${code}`).digest()

/** Identifies a PKCE flow even after its token has expired. */
const PKCE_PREFIX = 'pkce_'
export const isPkceToken = (token: string): boolean => token.startsWith(PKCE_PREFIX)

interface CodeRequest {
  readonly key: Buffer
  readonly kind: CodeKind
  readonly email: string
  readonly userId: string | undefined
  readonly flow?: { readonly method: FlowMethod; readonly pkce: Challenge | undefined }
}

/**
 * Voids the previous code of its kind. Earlier links stay valid until they end, since anybody can ask for a further mail.
 * Without a `userId`, runs as many statements (equal timing) and stores nothing.
 */
export async function issueCode(scope: Scope, { key, kind, email, userId, flow }: CodeRequest): Promise<IssuedCode> {
  const prefix = flow?.pkce === undefined ? '' : PKCE_PREFIX
  const issued = {
    token: `${prefix}${randomBytes(32).toString('base64url')}`,
    code: String(randomInt(1_000_000)).padStart(6, '0'),
  }
  const id = userId ?? randomUUID()
  await scope.query(`update auth.users set ${SENT_AT[kind]} = now() where id = $1`, [id])
  const flowId = flow && (await beginFlow(scope, { userId: id, ...flow }))
  await scope.query(
    `insert into auth.earlier_links (token_hash, user_id, token_type, flow_state_id, expires_at)
     select token_hash, user_id, token_type, flow_state_id, expires_at from auth.one_time_tokens
     where user_id = $1 and token_type = $2 and expires_at > now() and token_type <> 'reauthentication_token'
     on conflict do nothing`,
    [id, kind],
  )
  await scope.query(
    `insert into auth.one_time_tokens (user_id, token_type, token_hash, code_hash, relates_to, expires_at, flow_state_id)
     select u.id, $2, $3, $4, $5, now() + make_interval(secs => $6), $7 from auth.users u where u.id = $1
     on conflict (user_id, token_type) do update
     set token_hash = excluded.token_hash, code_hash = excluded.code_hash, relates_to = excluded.relates_to,
       flow_state_id = excluded.flow_state_id, expires_at = excluded.expires_at, attempts = 0, created_at = now()`,
    [id, kind, digestOf(issued.token), keyedDigestOf(key, email, issued.code), email, LIFETIME_S[kind], flowId ?? null],
  )
  return issued
}

export interface UsedCode {
  readonly userId: string
  readonly kind: CodeKind
  readonly flowId: string | null
}

interface PendingLink {
  readonly kind: CodeKind
  /** The address that the link was mailed to. */
  readonly email: string
}

/** Changes nothing, so that programs may open links. */
export async function findLink(
  scope: Scope,
  token: string,
  kinds: readonly CodeKind[],
): Promise<PendingLink | undefined> {
  const found = await scope.query<PendingLink>(
    `select token_type as kind, relates_to as email from auth.one_time_tokens
     where token_hash = $1 and token_type = any($2::auth.one_time_token_type[]) and expires_at > now()
     union all
     select l.token_type, case l.token_type when 'email_change_token_new' then u.email_change else coalesce(u.email, '') end
     from auth.earlier_links l join auth.users u on u.id = l.user_id
     where l.token_hash = $1 and l.token_type = any($2::auth.one_time_token_type[]) and l.expires_at > now()`,
    [digestOf(token), kinds],
  )
  return found.rows[0]
}

export async function useLinkToken(
  scope: Scope,
  token: string,
  kinds: readonly CodeKind[],
): Promise<UsedCode | undefined> {
  await scope.query(
    `select from auth.users u where u.id in (
       select user_id from auth.one_time_tokens where token_hash = $1
       union all select user_id from auth.earlier_links where token_hash = $1
     ) for no key update`,
    [digestOf(token)],
  )
  const taking = [
    // The code remains, for a link with PKCE that was opened in another browser than the one that asked for it.
    `update auth.one_time_tokens set token_hash = encode(sha256(uuid_send(gen_random_uuid())), 'hex')
     where flow_state_id is not null and token_type = 'recovery_token' and`,
    'delete from auth.one_time_tokens where',
    'delete from auth.earlier_links where',
  ]
  for (const take of taking) {
    const used = await scope.query<UsedCode>(
      `${take} token_hash = $1 and token_type = any($2::auth.one_time_token_type[]) and expires_at > now()
       returning user_id as "userId", token_type as kind, flow_state_id as "flowId"`,
      [digestOf(token), kinds],
    )
    if (used.rows[0] !== undefined) return used.rows[0]
  }
  return undefined
}

/** Consumes a mailed code. A wrong code counts against each matching pending code, so the transaction must commit. */
export async function useCode(
  scope: Scope,
  { key, email, code, kinds }: { key: Buffer; email: string; code: string; kinds: readonly CodeKind[] },
): Promise<UsedCode | undefined> {
  await scope.query(
    `select from auth.users u where u.id in (
       select o.user_id from auth.one_time_tokens o
       where o.relates_to = $1 and o.token_type = any($2::auth.one_time_token_type[])
     ) order by u.id for no key update`,
    [email, kinds],
  )
  const pending = await scope.query<UsedCode & { id: string; code_hash: Buffer }>(
    `select o.id, o.user_id as "userId", o.token_type as kind, o.flow_state_id as "flowId", o.code_hash
     from auth.one_time_tokens o
     where o.relates_to = $1 and o.token_type = any($2::auth.one_time_token_type[])
       and o.expires_at > now() and o.attempts < $3
     for update`,
    [email, kinds, MAX_ATTEMPTS],
  )
  const digest = keyedDigestOf(key, email, code)
  const match = pending.rows.find(({ code_hash }) => timingSafeEqual(code_hash, digest))
  if (match === undefined) {
    const ids = pending.rows.map(({ id }) => id)
    await scope.query('update auth.one_time_tokens set attempts = attempts + 1 where id = any($1::uuid[])', [ids])
    return undefined
  }
  await scope.query('delete from auth.one_time_tokens where id = $1', [match.id])
  // The mail's link may have ended in a code that was not exchanged: one mail signs in once.
  await scope.query('delete from auth.flow_state where id = $1', [match.flowId])
  return { ...match, flowId: null }
}

/**
 * Ends all pending sign-ins by mail, except the flow that is being completed and the code of its mail. A change of address
 * whose codes end loses the confirmation of its first side.
 */
export async function voidCodes(scope: Scope, userId: string, storedFlowId: string | null = null): Promise<void> {
  await scope.query(
    'update auth.users set email_change_confirm_status = 0, email_change_confirmed_at = null where id = $1',
    [userId],
  )
  await scope.query(
    'delete from auth.one_time_tokens where user_id = $1 and ($2::uuid is null or flow_state_id is distinct from $2)',
    [userId, storedFlowId],
  )
  await scope.query('delete from auth.earlier_links where user_id = $1', [userId])
  await scope.query('delete from auth.flow_state where user_id = $1 and id is distinct from $2', [userId, storedFlowId])
}
