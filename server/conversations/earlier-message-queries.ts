import { READER_MODEL } from '#contract/product-names.ts'
import type { SENDER_ROLES } from '#contract/sender-roles.ts'
import { MAX_TITLE_CHARACTERS } from './search-messages.ts'
import type { Scope } from '#server/database/scope.ts'

export interface EarlierMessage {
  readonly messageId: string
  readonly conversationId: string
  readonly position: number
  readonly title: string | null
  readonly senderRole: typeof SENDER_ROLES.user | typeof SENDER_ROLES.assistant
  readonly createdAt: string
  readonly content: string
}

export interface EarlierMessageMatches {
  readonly messages: readonly EarlierMessage[]
  readonly rarities: readonly number[]
}

export interface TurnsInPrompt {
  readonly conversationId: string
  readonly after: number
}

const MAX_MESSAGES = 24
/** Includes failures and extractive answers, which are excluded later, as the documents contain their words. */
const MAX_CANDIDATES = 100
/** No more of all candidates together is searched for passages. */
const MAX_CHARACTERS = 400_000

type Row = EarlierMessage & { readonly rarities: number[] }

function rankSql(parts: number): string {
  const each = (write: (index: number) => string, separator = ', ') =>
    Array.from({ length: parts }, (_, index) => write(index)).join(separator)
  // One condition per part: PostgreSQL would unroll a list for every row. An answer that others read quotes nothing that they may not.
  return `
    with asked as materialized (
      select space_id, is_shared from conversations where id = $1
    ), texts as materialized (
      select t.message_id, t.position, ${each((index) => `strpos(t.text, (select fold_text($${index + 4}))) > 0 as h${index}`)}
      from message_texts t
      where (
        (t.owner = (select auth.uid()) and t.space_id is null and (select space_id from asked) is null)
        or (t.space_id = (select space_id from asked)
          and (t.is_shared or (t.owner = (select auth.uid()) and not (select is_shared from asked))))
      ) and not (
        t.position > $2 and t.message_id in (select id from messages where conversation_id = $1 and position > $2)
      )
    ), counts as (
      select count(*) as total, ${each((index) => `count(*) filter (where h${index}) as n${index}`)} from texts
    ), weights as (
      select ${each((index) => `case when n${index} = 0 then 0 else ln(1 + (total - n${index} + 0.5) / (n${index} + 0.5)) end as w${index}`)}
      from counts
    ), best as (
      select message_id, ${each((index) => `h${index}::int * w${index}`, ' + ')} as score from texts, weights
      where ${each((index) => `h${index}`, ' or ')}
      order by score desc, position desc limit ${MAX_CANDIDATES}
    )
    select m.id as "messageId", m.conversation_id as "conversationId", m.position, left(c.title, ${MAX_TITLE_CHARACTERS}) as title, m.sender_role as "senderRole",
      to_jsonb(m.created_at) #>> '{}' as "createdAt", left(m.content, ${MAX_CHARACTERS}) as content, array[${each((index) => `w${index}`)}]::float8[] as rarities
    from best cross join weights join messages m on m.id = best.message_id join conversations c on c.id = m.conversation_id
    where not coalesce(m.metadata ? 'error', false) and m.metadata ->> 'model' is distinct from '${READER_MODEL}'
    order by best.score desc, m.position desc limit $3`
}

/** Runs as the person. Matches any part of a word, ignoring case and accents. */
export async function findEarlierMessages(
  scope: Scope,
  parts: readonly string[],
  { conversationId, after }: TurnsInPrompt,
): Promise<EarlierMessageMatches> {
  if (parts.length === 0) return { messages: [], rarities: [] }
  const { rows } = await scope.query<Row & Record<string, unknown>>(rankSql(parts.length), [
    conversationId,
    after,
    MAX_MESSAGES,
    ...parts,
  ])
  return {
    messages: rows.map(({ rarities: _, ...message }) => message),
    rarities: rows[0]?.rarities ?? [],
  }
}
