/** Statements on conversations and messages. Rows are PostgreSQL's JSON, so that all APIs answer with equal shapes. */
import type { ConversationPatch, ConversationRow, ListedConversation, NewConversation } from '#contract/conversation.ts'
import { DEFAULT_MODEL_LABEL, DEFAULT_TITLES } from '#contract/product-names.ts'
import type { MessageRow, NewMessage } from '#contract/message.ts'
import type { ChosenSpace } from '#contract/space.ts'
import { SENDER_ROLES } from '#contract/sender-roles.ts'
import { AppError } from '#server/base/errors.ts'
import { LIST_BOUNDS, type ListBounds, readJsonList, readJsonRows } from '#server/database/json-list.ts'
import { foldedToSql, lowerToSql } from '#server/database/lower-case.ts'
import type { Scope } from '#server/database/scope.ts'

interface Json<Row> {
  row: Row
}

export interface ConversationPage {
  /** The id of the last conversation of the page before. */
  readonly after?: string | undefined
  readonly limit?: number | undefined
  /** In this space, those of all its members that the person may see. */
  readonly space?: ChosenSpace | undefined
}

/** $1 of the statements below, with its condition. Without a space: what the person began, anywhere. */
function placeOf(
  ownerId: string,
  space: ChosenSpace | undefined,
): { readonly condition: string; readonly value: string } {
  if (space === undefined) return { condition: 'c.uid = $1', value: ownerId }
  return space === 'personal'
    ? { condition: 'c.uid = $1 and c.space_id is null', value: ownerId }
    : { condition: 'c.space_id = $1', value: space }
}

/** After the one that began at $2 with the id $3. */
const conversationsToSql = (condition: string): string => `
  select c.* from conversations c
  where ${condition} and ($2::timestamptz is null or c.started_at < $2 or (c.started_at = $2 and c.id > $3))
  order by c.started_at desc, c.id limit $4`

/** @returns JSON text, newest first @throws AppError `too_large`, `not_found` for an unknown `after` */
export async function listConversations(
  scope: Scope,
  ownerId: string,
  { after, limit, space }: ConversationPage = {},
): Promise<string> {
  const last = after === undefined ? undefined : await readStart(scope, after)
  const { condition, value } = placeOf(ownerId, space)
  return readJsonList(
    scope,
    { text: conversationsToSql(condition), values: [value, last, after, limit] },
    {
      ...LIST_BOUNDS,
      wayOut: 'Ask for a page: ?limit=100, then ?limit=100&after= with the id of its last conversation.',
    },
  )
}

const LISTED_COLUMNS = `
  c.id, c.uid, c.title, c.model_name, c.started_at, c.pinned, c.space_id, c.is_shared,
  c.metadata ->> 'branched_from' as branched_from`

/** Titles and descriptions as the page shows them (`conversation-labels.ts`); $5 and $6 are those of conversations without. */
const listedToSql = (condition: string): string => `
  select ${LISTED_COLUMNS}
  from conversations c
    left join conversations last on last.id = $2
    left join models m on m.model_identifier = c.model_name and m.is_visible,
    coalesce(nullif(btrim(c.title), ''), $5) as title_label,
    coalesce(m.name, nullif(btrim(regexp_replace(c.model_name, '^endpoint:[^/]*/', '')), ''), $6) as model_label,
    lateral (select ${lowerToSql('$3::text')} as wanted) w
  where ${condition}
    and ($2::uuid is null or c.pinned < last.pinned or (c.pinned = last.pinned
      and (c.started_at < last.started_at or (c.started_at = last.started_at and c.id > last.id))))
    and (wanted = '' or strpos(${lowerToSql('title_label')}, wanted) > 0 or strpos(${lowerToSql('model_label')}, wanted) > 0)
  order by c.pinned desc, c.started_at desc, c.id limit $4`

export interface ListedPage extends ConversationPage {
  /** A part of the title or of the model's name, ignoring case. */
  readonly search?: string | undefined
}

/** @returns JSON text, the pinned ones first, then newest first @throws AppError `too_large`, `not_found` for an unknown `after` */
export async function listPinnedFirst(
  scope: Scope,
  ownerId: string,
  { after, limit, space, search = '' }: ListedPage,
): Promise<string> {
  if (after !== undefined) await requireConversation(scope, after)
  const wanted = search.replaceAll('\u0000', ' ').trim()
  const { condition, value } = placeOf(ownerId, space)
  return readJsonList(
    scope,
    {
      text: listedToSql(condition),
      values: [value, after, wanted, limit, DEFAULT_TITLES.listed, DEFAULT_MODEL_LABEL],
    },
    { ...LIST_BOUNDS, wayOut: 'Ask for a page with ?limit=100.' },
  )
}

/** Whether a row is in the chosen space. @param place of the parameter: an id, 'personal', or null for any */
const spaceToSql = (alias: string, place: number): string =>
  `($${place}::text is null or coalesce(${alias}.space_id::text, 'personal') = $${place})`

/** The newest whose titles contain all words, in any order, ignoring case and accents. Runs as the person. */
export async function searchTitles(
  scope: Scope,
  words: readonly string[],
  { limit, space }: { readonly limit: number; readonly space?: ChosenSpace | undefined },
): Promise<ListedConversation[]> {
  const conditions = words.map((_, index) => `strpos(folded_title, fold_text($${index + 4})) > 0`)
  return readJsonRows(
    scope,
    {
      text: `select ${LISTED_COLUMNS}
        from conversations c, coalesce(nullif(btrim(c.title), ''), $1) as title_label,
          lateral (select ${foldedToSql('title_label')} as folded_title) f
        where ${[spaceToSql('c', 3), ...conditions].join(' and ')} order by c.started_at desc, c.id limit $2`,
      values: [DEFAULT_TITLES.listed, limit, space ?? null, ...words],
    },
    { ...LIST_BOUNDS, wayOut: 'Search for a longer word.' },
  )
}

async function readStart(scope: Scope, id: string): Promise<string> {
  const { rows } = await scope.query<{ start: string }>(
    'select started_at::text as start from conversations where id = $1',
    [id],
  )
  return rows[0]?.start ?? notFound()
}

/** Newest first. @throws AppError `too_large` */
export const readConversations = (
  scope: Scope,
  ownerId: string,
  last: ConversationRow | undefined,
  bounds: ListBounds,
): Promise<ConversationRow[]> =>
  readJsonRows(
    scope,
    { text: conversationsToSql('c.uid = $1'), values: [ownerId, last?.started_at, last?.id, bounds.maxRows] },
    { ...bounds, wayOut: 'Read fewer conversations at once.' },
  )

/** @throws AppError `not_found`, also for conversations of other people: the policies show no difference. */
export async function requireConversation(scope: Scope, id: string): Promise<void> {
  const { rowCount } = await scope.query('select from conversations where id = $1', [id])
  if (rowCount === 0) notFound()
}

/** @throws AppError `not_found`, or `forbidden` for a conversation that the person may only read. Runs as the person. */
export async function requireMayAsk(scope: Scope, id: string): Promise<void> {
  await requireConversation(scope, id)
  const { rows } = await scope.query<{ may: boolean }>('select may_ask_in($1) as may', [id])
  if (rows[0]?.may !== true) throw new AppError('forbidden', 'You may read this conversation, but not go on in it.')
}

/** @throws AppError `not_found`, `too_large` */
export async function getConversation(scope: Scope, id: string): Promise<ConversationRow> {
  const [row] = await readJsonRows<ConversationRow>(
    scope,
    { text: 'select c.* from conversations c where id = $1', values: [id] },
    { ...LIST_BOUNDS, wayOut: 'Shorten its metadata.' },
  )
  return row ?? notFound()
}

/** Those of these ids that the person may see. @throws AppError `too_large` */
export const getConversations = (scope: Scope, ids: readonly string[]): Promise<ConversationRow[]> =>
  readJsonRows<ConversationRow>(
    scope,
    { text: 'select c.* from conversations c where id = any ($1::uuid[])', values: [ids] },
    { ...LIST_BOUNDS, wayOut: 'Read fewer conversations at once.' },
  )

export async function createConversation(scope: Scope, given: NewConversation): Promise<ConversationRow> {
  const { rows } = await scope.query<Json<ConversationRow>>(
    `insert into conversations as c (id, title, model_name, started_at, ended_at, metadata, space_id)
     values (coalesce($1, gen_random_uuid()), $2, $3, coalesce($4, now()), $5, coalesce($6, '{}'::jsonb), $7)
     returning to_jsonb(c) as row`,
    [
      given.id,
      given.title,
      given.model_name,
      given.started_at,
      given.ended_at,
      given.metadata && JSON.stringify(given.metadata),
      given.space_id,
    ],
  )
  return rows[0]?.row ?? notFound()
}

const PATCHABLE = ['title', 'model_name', 'started_at', 'ended_at', 'metadata', 'pinned', 'is_shared'] as const

export async function updateConversation(scope: Scope, id: string, patch: ConversationPatch): Promise<ConversationRow> {
  const names = PATCHABLE.filter((name) => patch[name] !== undefined)
  if (names.length === 0) return getConversation(scope, id)
  const values = names.map((name) =>
    name === 'metadata' && patch.metadata ? JSON.stringify(patch.metadata) : patch[name],
  )
  const { rows } = await scope.query<Json<ConversationRow>>(
    `update conversations as c set ${names.map((name, index) => `${name} = $${index + 2}`).join(', ')}
     where id = $1 returning to_jsonb(c) as row`,
    [id, ...values],
  )
  return rows[0]?.row ?? notFound()
}

/** Null: out of its space. @throws AppError `not_found`, `forbidden`, or `conflict` while an answer is written. Runs as the person. */
export async function moveConversation(scope: Scope, id: string, spaceId: string | null): Promise<void> {
  await scope.query('select move_conversation($1, $2)', [id, spaceId])
}

/** Ends the sharing, which its author and the owners of its space may do. @throws AppError `not_found`, `forbidden`, or `conflict` once its author's account is deleted. Runs as the person. */
export async function unshareConversation(scope: Scope, id: string): Promise<void> {
  await scope.query('select unshare_conversation($1)', [id])
}

/** Null: out of spaces. @returns the id of the copy @throws AppError as `moveConversation`. Runs as the person. */
export async function copyConversation(scope: Scope, id: string, spaceId: string | null): Promise<string> {
  const { rows } = await scope.query<{ id: string }>('select copy_conversation($1, $2) as id', [id, spaceId])
  return rows[0]?.id ?? ''
}

export const isUntitled = (title: string | null): boolean => title === null || title === DEFAULT_TITLES.created

/** Sets a title only where there is none, so that one chosen meanwhile stays. Runs as the service. */
export async function giveTitle(scope: Scope, id: string, title: string): Promise<boolean> {
  const { rowCount } = await scope.query(
    'update conversations set title = $2 where id = $1 and coalesce(title, $3) = $3',
    [id, title, DEFAULT_TITLES.created],
  )
  return rowCount === 1
}

/** A title is made of the beginnings. */
const MAX_EXCHANGE_CHARACTERS = 10_000

/** Beginnings of the first answered question and its answer; if none was answered, of the first question, and null. */
export async function readFirstExchange(
  scope: Scope,
  conversationId: string,
): Promise<{ question: string; answer: string | null } | undefined> {
  const { rows } = await scope.query<{ question: string; answer: string | null }>(
    `select left(question.content, $2) as question, left(answer.content, $2) as answer
     from replies r
     join messages question on question.id = r.message_id
     left join messages answer
       on answer.id = r.answer_id and answer.content <> '' and not coalesce(answer.metadata ? 'error', false)
     where r.conversation_id = $1
     order by answer.id is null, question.position limit 1`,
    [conversationId, MAX_EXCHANGE_CHARACTERS],
  )
  return rows[0]
}

/** @throws AppError `not_found`. */
export async function deleteConversation(scope: Scope, id: string): Promise<void> {
  const { rowCount } = await scope.query('delete from conversations where id = $1', [id])
  if (rowCount === 0) notFound()
}

export interface MessagePage {
  readonly before?: number | undefined
  readonly limit?: number | undefined
}

/** @returns JSON text, oldest first @throws AppError `too_large` */
export const listMessages = (scope: Scope, conversationId: string, { before, limit }: MessagePage = {}) =>
  readJsonList(
    scope,
    {
      text: `select * from (
          select m.* from messages m
          where conversation_id = $1 and ($2::bigint is null or position < $2)
          order by position desc limit $3
        ) newest order by position`,
      values: [conversationId, before, limit],
    },
    { ...LIST_BOUNDS, wayOut: 'Ask for fewer messages: ?limit=50, then ?limit=50&before= with their lowest position.' },
  )

/** Those of the ids that are in the conversation, oldest first. @throws AppError `too_large` */
export const getMessages = (scope: Scope, conversationId: string, ids: readonly string[]): Promise<MessageRow[]> =>
  readJsonRows<MessageRow>(
    scope,
    {
      text: 'select m.* from messages m where conversation_id = $1 and id = any ($2::uuid[]) order by position',
      values: [conversationId, ids],
    },
    { ...LIST_BOUNDS, wayOut: 'Read fewer messages at once.' },
  )

/** Oldest first. @throws AppError `too_large` */
export const readMessagesAfter = (scope: Scope, conversationId: string, after: number, bounds: ListBounds) =>
  readJsonRows<MessageRow>(
    scope,
    {
      text: 'select m.* from messages m where conversation_id = $1 and position > $2 order by position limit $3',
      values: [conversationId, after, bounds.maxRows],
    },
    { ...bounds, wayOut: 'Read fewer messages at once.' },
  )

export interface Turn {
  readonly id: string
  readonly position: number
  readonly content: string
  readonly sender_role: MessageRow['sender_role']
  readonly has_failed: boolean
  readonly tool_name: string | null
  readonly document_ids?: unknown
  readonly time_zone?: string | null
  readonly found_addresses?: unknown
}

/** More than any model reads. The rest of a longer turn, and turns before them all, are left out. */
const MAX_TURN_CHARACTERS = 1_000_000
const MAX_TURNS_BYTES = 16 * 1024 * 1024
/** Two hundred ids of documents, or as many addresses of search results. */
const MAX_NOTED_BYTES = 100_000

const notedToSql = (name: string) =>
  `case when octet_length((t.metadata -> '${name}')::text) <= ${MAX_NOTED_BYTES} then t.metadata -> '${name}' end`

/**
 * A question with earlier turns and their tool results, oldest first. Includes an earlier answer that was stored after this
 * question. Excludes questions that still wait, messages after a question whose answer is rewritten, and summarised turns.
 */
export async function readTurns(
  scope: Scope,
  conversationId: string,
  questionId: string,
  limit: number,
): Promise<Turn[]> {
  const { rows } = await scope.prepared<Turn & Record<string, unknown>>(
    // Only messages after this question need a lookup of the question that they answer.
    `with turns as (
       select m.*, m.id = question.id as is_question
       from messages m
       join messages question on question.id = $2
       where m.conversation_id = $1
         and (m.position < question.position or m.id = question.id or exists (
           select from replies r join messages asked on asked.id = r.message_id
           where r.conversation_id = $1 and r.answer_id = m.id and asked.position < question.position
         ))
         and m.position > coalesce((
           select max(s.through_position) from conversation_summaries s
           where s.conversation_id = $1 and s.through_position < question.position
         ), 0)
       order by is_question desc, m.position desc limit $3
     ), counted as (
       select t.*, sum(octet_length(t.content)) over (order by t.is_question desc, t.position desc) - octet_length(t.content)
         as bytes_before
       from turns t
     )
     select t.id, t.position, left(t.content, ${MAX_TURN_CHARACTERS}) as content, t.sender_role,
       coalesce(t.metadata ? 'error', false) as has_failed, left(t.metadata ->> 'tool_name', 200) as tool_name,
       ${notedToSql('documentIds')} as document_ids,
       left(t.metadata ->> 'timeZone', 200) as time_zone, ${notedToSql('addresses')} as found_addresses
     from counted t
     where t.bytes_before < ${MAX_TURNS_BYTES}
     order by t.is_question desc, t.position desc`,
    [conversationId, questionId, limit],
  )
  return rows.reverse()
}

/**
 * A repeat of an id with equal content returns the stored row, so that a client may retry.
 * @param author by default the person whose rights the scope has
 * @throws AppError `conflict` if the id is taken otherwise, `not_found` for a conversation of another person.
 */
export async function addMessage(
  scope: Scope,
  conversationId: string,
  given: NewMessage,
  author?: string,
): Promise<{ row: MessageRow; isNew: boolean }> {
  await requireConversation(scope, conversationId)
  const inserted = await scope.query<Json<MessageRow>>(
    `insert into messages as m (id, conversation_id, content, sender_role, token_in, token_out, metadata, author)
     values (coalesce($1, gen_random_uuid()), $2, $3, $4, $5, $6, coalesce($7, '{}'::jsonb), coalesce($8, auth.uid()))
     on conflict (id) do nothing
     returning to_jsonb(m) as row`,
    [
      given.id,
      conversationId,
      given.content,
      SENDER_ROLES.user,
      given.tokenIn,
      given.tokenOut,
      given.metadata && JSON.stringify(given.metadata),
      author,
    ],
  )
  const row = inserted.rows[0]?.row
  if (row) return { row, isNew: true }
  const stored = await scope.query<Json<MessageRow>>(
    'select to_jsonb(m) as row from messages m where id = $1 and conversation_id = $2 and content = $3 and sender_role = $4',
    [given.id, conversationId, given.content, SENDER_ROLES.user],
  )
  const same = stored.rows[0]?.row
  if (!same) throw new AppError('conflict', 'Another message already has this id.')
  return { row: same, isNew: false }
}

function notFound(): never {
  throw new AppError('not_found', 'There is no such conversation.')
}
