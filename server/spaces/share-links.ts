/** Read-only links to conversations. Only the hash of a token is stored. */
import { createHash } from 'node:crypto'
import type { ListedLink, SharedConversation } from '#contract/space.ts'
import { AppError } from '#server/base/errors.ts'
import type { Scope } from '#server/database/scope.ts'

const MESSAGES_AT_ONCE = 100

const hashToken = (token: string): Buffer => createHash('sha256').update(token).digest()

const missing = () => new AppError('not_found', 'This link does not exist, or it has ended.')

export interface NewLink {
  readonly days: number
  readonly isForAnybody: boolean
}

/** The database draws the token. Runs as the person. @throws AppError `not_found`, `forbidden`, `conflict` if too many are open */
export async function createLink(
  scope: Scope,
  conversationId: string,
  { days, isForAnybody }: NewLink,
): Promise<{ readonly id: string; readonly token: string; readonly expires_at: string }> {
  const { rows } = await scope.query<{ id: string; token: string; expires_at: string }>(
    `select id, token, to_jsonb(expires_at) #>> '{}' as expires_at from create_link($1, $2, $3)`,
    [conversationId, days, isForAnybody],
  )
  const [link] = rows
  if (!link) throw missing()
  return link
}

/** Newest first. Runs as the person, who sees them if they may make some. */
export async function listLinks(scope: Scope, conversationId: string): Promise<ListedLink[]> {
  const { rows } = await scope.query<ListedLink & Record<string, unknown>>(
    `select id, created_by, for_anybody, to_jsonb(created_at) #>> '{}' as created_at, to_jsonb(expires_at) #>> '{}' as expires_at
     from share_links where conversation_id = $1 and expires_at > now() order by created_at desc, id limit 500`,
    [conversationId],
  )
  return rows
}

/** Runs as the person. @throws AppError `not_found` */
export async function revokeLink(scope: Scope, id: string): Promise<void> {
  const { rowCount } = await scope.query('delete from share_links where id = $1', [id])
  if (rowCount === 0) throw new AppError('not_found', 'There is no such link.')
}

export interface OpenedLink extends SharedConversation {
  readonly isForAnybody: boolean
}

/** Runs as the person, or as the service for a reader without an account. @throws AppError `not_found` */
export async function openLink(scope: Scope, token: string, after: number): Promise<OpenedLink> {
  const { rows } = await scope.query<{
    title: string | null
    for_anybody: boolean
    expires_at: string
    messages: SharedConversation['messages']
    has_more: boolean
  }>(
    `select title, for_anybody, to_jsonb(expires_at) #>> '{}' as expires_at, messages, has_more from open_link($1, $2, $3)`,
    [hashToken(token), after, MESSAGES_AT_ONCE],
  )
  const [link] = rows
  if (!link) throw missing()
  const { title, for_anybody: isForAnybody, expires_at, messages, has_more: hasMore } = link
  const next = hasMore ? (messages.at(-1)?.position ?? null) : null
  return { title, expires_at, messages, isForAnybody, next }
}
