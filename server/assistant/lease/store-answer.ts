import { MAX_EARLIER_VERSIONS, type ReplyError } from '#contract/message.ts'
import { SENDER_ROLES } from '#contract/sender-roles.ts'
import type { Scope } from '#server/database/scope.ts'
import type { ClaimedReply, FinishedAnswer } from './claimed-reply.ts'

/** A rewrite without text leaves the answer unchanged and stores the error with it. */
async function recordFailedRewrite(scope: Scope, reply: ClaimedReply, error: ReplyError | undefined): Promise<void> {
  await scope.query(`update messages set metadata = metadata - 'rewrite_error' || $2::jsonb where id = $1`, [
    reply.answerId,
    JSON.stringify({ attempt: reply.attempt, ...(error ? { rewrite_error: error } : {}) }),
  ])
}

/** Archives the replaced version. A failed one is overwritten, and the new version takes its number. */
const REPLACE = `
  with replaced as (
    select id, content, token_in, token_out, created_at, metadata - '{version,attempt,rewrite_error}'::text[] as metadata,
      coalesce((metadata ->> 'version')::integer, 1) as version, metadata ? 'error' as has_failed
    from messages where id = $1
  ), kept as (
    insert into message_versions (message_id, version, content, token_in, token_out, created_at, metadata)
    select id, version, content, token_in, token_out, created_at, metadata from replaced where not has_failed
    returning version
  ), expired as (
    delete from message_versions v using replaced
    where v.message_id = replaced.id and v.version <= replaced.version - ${MAX_EARLIER_VERSIONS}
  )
  update messages m set content = $2, token_in = $3, token_out = $4, created_at = now(),
    metadata = $5::jsonb || jsonb_build_object('version', replaced.version + (select count(*) from kept))
  from replaced where m.id = replaced.id`

/** Token counts are sums over all requests of the answer. */
const APPEND = `
  update messages set content = $2, token_in = coalesce(token_in + $3, token_in, $3),
    token_out = coalesce(token_out + $4, token_out, $4),
    metadata = $5::jsonb || case when metadata ? 'version' then jsonb_build_object('version', metadata -> 'version') else '{}' end
  where id = $1`

const INSERT = `
  insert into messages (id, content, token_in, token_out, metadata, conversation_id, sender_role)
  values ($1, $2, $3, $4, $5, $6, ${SENDER_ROLES.assistant}) on conflict (id) do nothing`

export const storedMetadata = ({ attempt }: ClaimedReply, { metadata }: FinishedAnswer): string =>
  JSON.stringify({ ...metadata, attempt })

/** Runs as the service, in the transaction that ends the reply. */
export async function storeAnswer(scope: Scope, reply: ClaimedReply, answer: FinishedAnswer): Promise<void> {
  const { content, tokensIn, tokensOut } = answer
  if (reply.kind !== 'answer' && !answer.hasNewText) return recordFailedRewrite(scope, reply, answer.lastPart.error)
  const values = [reply.answerId, content, tokensIn, tokensOut, storedMetadata(reply, answer)]
  if (reply.kind === 'answer') await scope.prepared(INSERT, [...values, reply.conversationId])
  else await scope.query(reply.kind === 'rewrite' ? REPLACE : APPEND, values)
}
