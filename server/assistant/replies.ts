/**
 * The queue of questions: claim, lease, fence. Every write of a worker carries the attempt that it belongs to and is
 * refused once a newer attempt has begun, so a worker that was stopped or cut off can do no harm when it wakes.
 */
import { createHash } from 'node:crypto'
import { type ReplyPart } from '#contract/reply-events.ts'
import { broadcastPart, holdConversation } from '#server/conversations/reply-queries.ts'
import { type Database } from '#server/database/scope.ts'
import { type ToolRun } from './tools/outcome.ts'

/** A worker that has not renewed for this long is taken for dead. */
export const LEASE_S = 6
/** A question that has killed this many workers is given up. */
export const MAX_TRIES = 5

/** A question that this worker may answer, as long as `attempt` is the newest. */
export interface ClaimedReply {
  readonly id: string
  readonly messageId: string
  readonly conversationId: string
  readonly owner: string
  readonly answerId: string
  readonly attempt: number
  /** How many workers have begun on it, this one included, since it was asked or asked again. */
  readonly tries: number
  /** The person asked to stop it before it was claimed. */
  readonly stopRequested: boolean
}

/** A reply that is still ours. */
export interface Renewal {
  readonly stopRequested: boolean
}

export interface FinishedAnswer {
  readonly content: string
  readonly tokensIn: number | null
  readonly tokensOut: number | null
  readonly metadata: Readonly<Record<string, unknown>>
  readonly state: 'done' | 'failed' | 'stopped'
  /** The last live part, which tells viewers that no more will come. */
  readonly lastPart: ReplyPart
}

export interface Replies {
  /** Claims up to `limit` questions: the oldest of each conversation, people with fewer running replies first. */
  claim(limit: number): Promise<ClaimedReply[]>
  /** Renews the leases of these replies; returns those that are still ours, by id. */
  renew(replies: readonly ClaimedReply[]): Promise<Map<string, Renewal>>
  /**
   * Stores what the tools of a question did, in place of what an earlier attempt stored of the same runs. False where a
   * newer attempt has begun: nothing was written.
   */
  storeToolRuns(reply: ClaimedReply, runs: readonly ToolRun[]): Promise<boolean>
  /** Stores the answer and ends the reply, once. False where a newer attempt has begun: nothing was written. */
  finish(reply: ClaimedReply, answer: FinishedAnswer): Promise<boolean>
  /** Gives the question back to the queue, for another worker to begin anew. */
  release(replies: readonly ClaimedReply[]): Promise<void>
}

// Of a conversation the running reply comes first, so that no other one is claimed beside it.
const CLAIM = `
  with waiting as (
    select distinct on (r.conversation_id) r.id, r.owner, r.created_at, r.state, r.lease_until
    from replies r
    where r.state in ('queued', 'running')
    order by r.conversation_id, r.state = 'running' desc, r.created_at, r.id
  ), claimable as (
    select r.id
    from replies r
    join waiting w using (id)
    where w.state = 'queued' or w.lease_until < clock_timestamp()
    order by (select count(*) from replies busy where busy.owner = w.owner and busy.state = 'running'), w.created_at
    limit $2
    for update of r skip locked
  )
  update replies r
  set state = 'running', attempt = r.attempt + 1, tries = r.tries + 1, worker = $1,
    lease_until = clock_timestamp() + make_interval(secs => $3)
  from claimable
  where r.id = claimable.id and (r.state = 'queued' or r.lease_until < clock_timestamp())
  returning r.id, r.message_id as "messageId", r.conversation_id as "conversationId", r.owner,
    r.answer_id as "answerId", r.attempt, r.tries, r.stop_requested as "stopRequested"`

/** The same run has the same id in every attempt (RFC 9562, version 8). */
function toolMessageId(replyId: string, index: number): string {
  const hex = createHash('sha256').update(`${replyId} ${index}`).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** @param worker names this process in the table, for people who look. */
export function createReplies(database: Database, worker: string): Replies {
  return {
    async claim(limit) {
      const { rows } = await database.serviceStatement<ClaimedReply & Record<string, unknown>>(CLAIM, [
        worker,
        limit,
        LEASE_S,
      ])
      return rows
    },

    async renew(replies) {
      const { rows } = await database.serviceStatement<{ id: string; stop_requested: boolean }>(
        `update replies r set lease_until = clock_timestamp() + make_interval(secs => $3)
         from unnest($1::uuid[], $2::integer[]) as mine(id, attempt)
         where r.id = mine.id and r.attempt = mine.attempt and r.state = 'running'
         returning r.id, r.stop_requested`,
        [replies.map(({ id }) => id), replies.map(({ attempt }) => attempt), LEASE_S],
        { synchronous_commit: 'off' },
      )
      return new Map(rows.map(({ id, stop_requested: stopRequested }) => [id, { stopRequested }]))
    },

    storeToolRuns: (reply, runs) =>
      database.asService(async (scope) => {
        await holdConversation(scope, reply.conversationId)
        const { rowCount } = await scope.query(
          `select from replies where id = $1 and attempt = $2 and state = 'running' for update`,
          [reply.id, reply.attempt],
        )
        if (rowCount === 0) return false
        for (const [index, { name, status, durationMs, content }] of runs.entries()) {
          await scope.query(
            `insert into messages (id, conversation_id, content, sender_role, metadata) values ($1, $2, $3, 3, $4)
             on conflict (id) do update set content = excluded.content, metadata = excluded.metadata
             where messages.conversation_id = excluded.conversation_id and messages.sender_role = 3`,
            [
              toolMessageId(reply.id, index),
              reply.conversationId,
              content,
              JSON.stringify({ tool_name: name, duration_ms: durationMs, status }),
            ],
          )
        }
        return true
      }),

    finish: (reply, answer) =>
      database.asService(async (scope) => {
        await holdConversation(scope, reply.conversationId)
        const { rowCount } = await scope.query(
          `update replies set state = $3, finished_at = now(), lease_until = null
           where id = $1 and attempt = $2 and state = 'running'`,
          [reply.id, reply.attempt, answer.state],
        )
        if (rowCount === 0) return false
        await scope.query(
          `insert into messages (id, conversation_id, content, sender_role, token_in, token_out, metadata)
           values ($1, $2, $3, 2, $4, $5, $6) on conflict (id) do nothing`,
          [
            reply.answerId,
            reply.conversationId,
            answer.content,
            answer.tokensIn,
            answer.tokensOut,
            JSON.stringify(answer.metadata),
          ],
        )
        await scope.query('delete from reply_parts where reply_id = $1', [reply.id])
        await broadcastPart(scope, reply.conversationId, answer.lastPart)
        return true
      }),

    release: (replies) =>
      database.asService(async (scope) => {
        await scope.query(
          `update replies r set state = 'queued', tries = r.tries - 1, lease_until = null, worker = null
           from unnest($1::uuid[], $2::integer[]) as mine(id, attempt)
           where r.id = mine.id and r.attempt = mine.attempt and r.state = 'running'`,
          [replies.map(({ id }) => id), replies.map(({ attempt }) => attempt)],
        )
        await scope.query(`select pg_notify('replies', '')`)
      }),
  }
}
