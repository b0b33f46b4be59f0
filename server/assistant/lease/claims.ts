/** The reply queue: claim, lease, fence. Writes of older attempts are rejected, so a worker may resume harmlessly. */
import { createHash } from 'node:crypto'
import { conversationTopic, REPLY_EVENT } from '#contract/reply-events.ts'
import { SENDER_ROLES } from '#contract/sender-roles.ts'
import { MAX_TOOL_RUNS, type ToolRun } from '#server/assistant/tools/outcome.ts'
import { createSemaphore } from '#server/base/semaphore.ts'
import { broadcastPart, lockConversation } from '#server/conversations/reply-queries.ts'
import type { Scope } from '#server/database/scope.ts'
import type { ServiceChannel } from '#server/database/service-channel.ts'
import type { ClaimedReply, FinishedAnswer, Spent } from './claimed-reply.ts'
import { storeAnswer, storedMetadata } from './store-answer.ts'

/** A worker that has not renewed for this long counts as dead. */
export const LEASE_S = 6
/** A question that crashed this many workers is given up. */
export const MAX_TRIES = 5
/** Leaves database connections for leases and live parts when many answers end together. */
const MAX_CONCURRENT_STORES = 2

export interface Renewal {
  readonly stopRequested: boolean
}

export interface FinishResult {
  readonly isStored: boolean
  /** Whether questions are queued; those announced after the call may be missed. */
  readonly hasQueuedQuestions: boolean
}

export interface ReplyClaims {
  readonly directDispatchSettings: Readonly<Record<string, string>>
  /** Claims the oldest of each conversation, fairly across people. Excludes `mine`: the replies of this process. */
  claim(limit: number, mine?: readonly string[]): Promise<ClaimedReply[]>
  renew(replies: readonly ClaimedReply[]): Promise<Map<string, Renewal>>
  /** Replaces runs of an earlier attempt. `from` numbers the first run. False if a newer attempt has begun. */
  storeToolRuns(reply: ClaimedReply, runs: readonly ToolRun[], from?: number): Promise<boolean>
  finish(reply: ClaimedReply, answer: FinishedAnswer): Promise<FinishResult>
  /** Counts what an answer used that was not stored, because its conversation was deleted or another attempt began. */
  countUnstored(reply: ClaimedReply, spent: Spent): Promise<void>
  release(replies: readonly ClaimedReply[]): Promise<void>
}

/** Running answers per person for each free slot, so that one person cannot take all slots. */
const MAX_RUNNING_PER_FREE_SLOT = 4

// The running reply of a conversation comes first, so that no second one is claimed.
const CLAIM = `
  with waiting as (
    select distinct on (r.conversation_id) r.id, r.owner, r.created_at, r.state, r.lease_until
    from replies r
    where r.state in ('queued', 'running')
    order by r.conversation_id, r.state = 'running' desc, r.created_at, r.id
  ), ranked as (
    select id, created_at, row_number() over (partition by owner order by created_at, id)
      + (select count(*) from replies busy where busy.owner = waiting.owner and busy.state = 'running') as turn
    from waiting
    where (state = 'queued' or lease_until < clock_timestamp()) and id <> all ($4::uuid[])
  ), placed as (
    select *, row_number() over (order by turn, created_at) as place from ranked
  ), claimable as (
    select r.id
    from replies r
    join placed using (id)
    where placed.turn <= ${MAX_RUNNING_PER_FREE_SLOT} * ($2 - placed.place + 1)
    order by placed.place
    limit $2
    for update of r skip locked
  )
  update replies r
  set state = 'running', attempt = r.attempt + 1, tries = r.tries + 1, worker = $1,
    lease_until = clock_timestamp() + make_interval(secs => $3)
  from claimable
  where r.id = claimable.id and (r.state = 'queued' or r.lease_until < clock_timestamp())
  returning r.id, r.message_id as "messageId", r.conversation_id as "conversationId", r.owner,
    r.answer_id as "answerId", r.kind, r.model_name as "modelName", r.attempt, r.tries,
    r.stop_requested or is_disabled(r.owner) as "stopRequested",
    exists (select from own_providers o where o.owner = r.owner) as "hasOwnProviders"`

// First answers are by far the most frequent, so one statement replaces their transaction.
const FINISH_FIRST = `
  with held as (
    select id from conversations where id = $3 for key share
  ), ended as (
    update replies set state = $4, finished_at = now(), lease_until = null
    where id = $1 and attempt = $2 and state = 'running' and exists (select from held)
    returning id, owner
  ), counted as (
    insert into usage_events (owner, day, tokens, own_tokens, cost)
    select owner, utc_today(), $13::bigint, $14::bigint, $15::bigint from ended
    where owner is not null and $13::bigint + $14::bigint > 0
  ), stored as (
    insert into messages (conversation_id, id, content, token_in, token_out, metadata, sender_role)
    select $3, $5, $6, $7::integer, $8::integer, $9::jsonb, ${SENDER_ROLES.assistant} from ended
    on conflict (id) do nothing
  ), parts as (
    delete from reply_parts using ended where reply_id = ended.id
  ), requests as (
    delete from tool_requests using ended where reply_id = ended.id
  )
  select realtime.send($10::jsonb, $11, $12, true), exists (select from replies where state = 'queued') as "othersWait"
  from ended`

const DELETE_TRANSIENT_ROWS = `
  with parts as (
    delete from reply_parts where reply_id = $1
  )
  delete from tool_requests where reply_id = $1`

/** A run has equal ids in all attempts (RFC 9562, version 8). */
function toolMessageId(replyId: string, index: number): string {
  const hex = createHash('sha256').update(`${replyId} ${index}`).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

async function storeRuns(scope: Scope, reply: ClaimedReply, runs: ReadonlyMap<number, ToolRun>): Promise<void> {
  for (const [number, { name, status, durationMs, content, addresses }] of runs)
    await scope.query(
      `insert into messages (id, conversation_id, content, sender_role, metadata) values ($1, $2, $3, ${SENDER_ROLES.tool}, $4)
       on conflict (id) do update set content = excluded.content, metadata = excluded.metadata
       where messages.conversation_id = excluded.conversation_id and messages.sender_role = ${SENDER_ROLES.tool}`,
      [
        toolMessageId(reply.id, number),
        reply.conversationId,
        content,
        JSON.stringify({ tool_name: name, duration_ms: durationMs, status, addresses }),
      ],
    )
}

/** An answer that was stored is counted with it, also where the connection broke off before that was known. */
const COUNT_UNSTORED = `
  insert into usage_events (owner, day, tokens, own_tokens, cost)
  select $1::uuid, utc_today(), $2::bigint, $3::bigint, $4::bigint
  where not exists (select from replies where id = $5 and attempt = $6 and state in ('done', 'failed', 'stopped'))`

const spentValues = ({ spent }: Pick<FinishedAnswer, 'spent'>): number[] => [
  spent?.tokens ?? 0,
  spent?.ownTokens ?? 0,
  spent?.cost ?? 0,
]

async function countSpent(scope: Scope, reply: ClaimedReply, answer: FinishedAnswer): Promise<void> {
  if (answer.spent === undefined) return
  await scope.query(
    'insert into usage_events (owner, day, tokens, own_tokens, cost) values ($1, utc_today(), $2, $3, $4)',
    [reply.owner, ...spentValues(answer)],
  )
}

async function deleteEarlierRuns(scope: Scope, reply: ClaimedReply, { toolRuns }: FinishedAnswer): Promise<void> {
  if (toolRuns === undefined || reply.attempt === 1) return
  await scope.query(
    `delete from messages where id = any($1::uuid[]) and conversation_id = $2 and sender_role = ${SENDER_ROLES.tool}`,
    [
      Array.from({ length: MAX_TOOL_RUNS - toolRuns }, (_, index) => toolMessageId(reply.id, toolRuns + index)),
      reply.conversationId,
    ],
  )
}

/** @param worker name of this process in the table, for operators. */
export function createReplyClaims(channel: ServiceChannel, worker: string): ReplyClaims {
  const limitStores = createSemaphore(MAX_CONCURRENT_STORES)

  async function finishFirst(reply: ClaimedReply, answer: FinishedAnswer): Promise<FinishResult> {
    const { id, attempt, conversationId, answerId } = reply
    const { state, content, tokensIn, tokensOut, lastPart } = answer
    const { rows, flushed } = await limitStores(() =>
      channel.statement<{ othersWait: boolean }>(FINISH_FIRST, [
        ...[id, attempt, conversationId, state, answerId, content, tokensIn, tokensOut, storedMetadata(reply, answer)],
        ...[JSON.stringify(lastPart), REPLY_EVENT, conversationTopic(conversationId)],
        ...spentValues(answer),
      ]),
    )
    await flushed()
    const [finished] = rows
    return { isStored: finished !== undefined, hasQueuedQuestions: finished?.othersWait ?? true }
  }

  async function finishInSteps(reply: ClaimedReply, answer: FinishedAnswer): Promise<FinishResult> {
    const isStored = await channel.asService(
      async (scope) => {
        const [, { rowCount }] = await Promise.all([
          lockConversation(scope, reply.conversationId),
          scope.prepared(
            `update replies set state = $3, finished_at = now(), lease_until = null
             where id = $1 and attempt = $2 and state = 'running'`,
            [reply.id, reply.attempt, answer.state],
          ),
        ])
        if (rowCount === 0) return false
        // Runs precede their answer.
        if (answer.unstoredRuns) await storeRuns(scope, reply, answer.unstoredRuns)
        await Promise.all([
          storeAnswer(scope, reply, answer),
          countSpent(scope, reply, answer),
          deleteEarlierRuns(scope, reply, answer),
          scope.prepared(DELETE_TRANSIENT_ROWS, [reply.id]),
          broadcastPart(scope, reply.conversationId, answer.lastPart),
        ])
        return true
      },
      { groupFlush: true },
    )
    return { isStored, hasQueuedQuestions: true }
  }

  return {
    directDispatchSettings: { 'alcove.answers': `${LEASE_S} ${worker}` },

    async claim(limit, mine = []) {
      type Row = Omit<ClaimedReply, 'durable'> & Record<string, unknown>
      const { rows, flushed } = await channel.statement<Row>(CLAIM, [worker, limit, LEASE_S, mine])
      if (rows.length === 0) return []
      const durable = flushed()
      // Rejections are handled by `await reply.durable`.
      durable.catch(() => undefined)
      return rows.map((row) => ({ ...row, durable }))
    },

    async renew(replies) {
      const { rows } = await channel.statement<{ id: string; stop_requested: boolean }>(
        `update replies r set lease_until = clock_timestamp() + make_interval(secs => $3)
         from unnest($1::uuid[], $2::integer[]) as mine(id, attempt)
         where r.id = mine.id and r.attempt = mine.attempt and r.state = 'running'
         returning r.id, r.stop_requested or is_disabled(r.owner) as stop_requested`,
        [replies.map(({ id }) => id), replies.map(({ attempt }) => attempt), LEASE_S],
      )
      return new Map(rows.map(({ id, stop_requested: stopRequested }) => [id, { stopRequested }]))
    },

    async storeToolRuns(reply, runs, from = 0) {
      await reply.durable
      return limitStores(() =>
        channel.asService(async (scope) => {
          await lockConversation(scope, reply.conversationId)
          const { rowCount } = await scope.query(
            `select from replies where id = $1 and attempt = $2 and state = 'running' for update`,
            [reply.id, reply.attempt],
          )
          if (rowCount === 0) return false
          await storeRuns(scope, reply, new Map(runs.map((run, index) => [from + index, run])))
          return true
        }),
      )
    },

    finish: (reply, answer) =>
      reply.kind === 'answer' && reply.attempt === 1 && !answer.unstoredRuns?.size
        ? finishFirst(reply, answer)
        : limitStores(() => finishInSteps(reply, answer)),

    async countUnstored(reply, spent) {
      await channel.asService((scope) =>
        scope.query(COUNT_UNSTORED, [reply.owner, ...spentValues({ spent }), reply.id, reply.attempt]),
      )
    },

    release: (replies) =>
      channel.asService(async (scope) => {
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
