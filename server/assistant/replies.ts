/**
 * The queue of questions: claim, lease, fence. Every write of a worker carries the attempt that it belongs to and is
 * refused once a newer attempt has begun, so a worker that was stopped or cut off can do no harm when it wakes.
 */
import { type ReplyPart } from '#contract/reply-events.ts'
import { broadcastPart } from '#server/conversations/reply-queries.ts'
import { type Database } from '#server/database/scope.ts'

/** A worker that has not renewed for this long is taken for dead. */
export const LEASE_S = 6
/** A question that has killed this many workers is given up. */
export const MAX_ATTEMPTS = 5

/** A question that this worker may answer, as long as `attempt` is the newest. */
export interface ClaimedReply {
  readonly id: string
  readonly messageId: string
  readonly conversationId: string
  readonly owner: string
  readonly answerId: string
  readonly attempt: number
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
  /** Renews the leases of these replies; returns the ids that are still ours. */
  renew(replies: readonly ClaimedReply[]): Promise<Set<string>>
  /** Stores the answer and ends the reply, once. False where a newer attempt has begun: nothing was written. */
  finish(reply: ClaimedReply, answer: FinishedAnswer): Promise<boolean>
  /** Gives the question back to the queue, for another worker to begin anew. */
  release(replies: readonly ClaimedReply[]): Promise<void>
}

const CLAIM = `
  with waiting as (
    select distinct on (r.conversation_id) r.id, r.owner, r.created_at, r.state, r.lease_until
    from replies r
    where r.state in ('queued', 'running')
    order by r.conversation_id, r.created_at, r.id
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
  set state = 'running', attempt = r.attempt + 1, worker = $1, lease_until = clock_timestamp() + make_interval(secs => $3)
  from claimable
  where r.id = claimable.id and (r.state = 'queued' or r.lease_until < clock_timestamp())
  returning r.id, r.message_id as "messageId", r.conversation_id as "conversationId", r.owner,
    r.answer_id as "answerId", r.attempt`

/** @param worker names this process in the table, for people who look. */
export function createReplies(database: Database, worker: string): Replies {
  return {
    claim: (limit) =>
      database.asService(
        async (scope) =>
          (await scope.query<ClaimedReply & Record<string, unknown>>(CLAIM, [worker, limit, LEASE_S])).rows,
      ),

    renew: (replies) =>
      database.asService(
        async (scope) => {
          const { rows } = await scope.query<{ id: string }>(
            `update replies r set lease_until = clock_timestamp() + make_interval(secs => $3)
             from unnest($1::uuid[], $2::integer[]) as mine(id, attempt)
             where r.id = mine.id and r.attempt = mine.attempt and r.state = 'running'
             returning r.id`,
            [replies.map(({ id }) => id), replies.map(({ attempt }) => attempt), LEASE_S],
          )
          return new Set(rows.map(({ id }) => id))
        },
        { settings: { synchronous_commit: 'off' } },
      ),

    finish: (reply, answer) =>
      database.asService(async (scope) => {
        const { rowCount } = await scope.query(
          `update replies set state = $3, finished_at = now(), lease_until = null
           where id = $1 and attempt = $2 and state = 'running'`,
          [reply.id, reply.attempt, answer.state],
        )
        if (rowCount === 0) return false
        await scope.query(
          `insert into messages (id, conversation_id, content, sender_role, token_in, token_out, metadata)
           values ($1, $2, $3, 2, $4, $5, $6)`,
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
          `update replies r set state = 'queued', lease_until = null, worker = null
           from unnest($1::uuid[], $2::integer[]) as mine(id, attempt)
           where r.id = mine.id and r.attempt = mine.attempt and r.state = 'running'`,
          [replies.map(({ id }) => id), replies.map(({ attempt }) => attempt)],
        )
        await scope.query(`select pg_notify('replies', '')`)
      }),
  }
}
