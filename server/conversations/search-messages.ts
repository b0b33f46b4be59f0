import type { FoundMessage } from '#contract/search.ts'
import type { ChosenSpace } from '#contract/space.ts'
import { startTimeSlices } from '#server/base/time-slices.ts'
import type { Claims, Database, TransactionOptions } from '#server/database/scope.ts'
import { createSnippet, MAX_SCANNED_CHARACTERS } from './snippet.ts'

const MAX_WORDS = 8
const MAX_RESULTS = 20
/** As `/api` accepts; other programs may store longer ones. */
export const MAX_TITLE_CHARACTERS = 500

/** Forces an index scan, newest first: the planner assumes few messages per person and would read and sort all. */
export const SEARCH_SCOPE: TransactionOptions = {
  readOnly: true,
  settings: { enable_sort: 'off', enable_bitmapscan: 'off', enable_seqscan: 'off' },
}

type FoundRow = Omit<FoundMessage, 'snippet'> & { content: string }

function searchSql(words: number, space: ChosenSpace | undefined): string {
  const firstWord = space === undefined || space === 'personal' ? 2 : 3
  // One condition per word: PostgreSQL would unroll a list for every row.
  const conditions = Array.from(
    { length: words },
    (_, index) => `strpos(t.text, (select fold_text($${index + firstWord}))) > 0`,
  ).join(' and ')
  const findIn = (place: string) =>
    `(select t.message_id, t.position from message_texts t where ${place} and ${conditions} order by t.position desc limit $1)`
  const [own, ofSpaces] = [
    't.owner = (select auth.uid())',
    `(select s.message_id, s.position from unnest((select spaces_to('read'))::uuid[]) as place (id)
      cross join lateral ${findIn('t.space_id = place.id')} s)`,
  ]
  const found = {
    // Each index yields its newest, of which the newest are left.
    any: `select message_id from (${findIn(own)} union ${ofSpaces}) any_place order by position desc limit $1`,
    personal: findIn(`${own} and t.space_id is null`),
    space: findIn('t.space_id = $2'),
  }[space === undefined || space === 'personal' ? (space ?? 'any') : 'space']
  return `
    with found as materialized (${found})
    select m.id as message_id, m.conversation_id, m.position, m.sender_role, to_jsonb(m.created_at) #>> '{}' as created_at,
      left(c.title, ${MAX_TITLE_CHARACTERS}) as title, left(m.content, ${MAX_SCANNED_CHARACTERS}) as content
    from found join messages m on m.id = found.message_id join conversations c on c.id = m.conversation_id
    order by m.position desc`
}

/** The newest messages that contain all words, in any order; a word may be any part of one in the text. Policies apply. */
export async function searchMessages(
  database: Database,
  claims: Claims,
  search: string,
  space?: ChosenSpace,
): Promise<FoundMessage[]> {
  // PostgreSQL accepts no NUL, and no message contains one.
  const words = search.replaceAll('\u0000', ' ').split(/\s+/).filter(Boolean).slice(0, MAX_WORDS)
  if (words.length === 0) return []
  const { rows } = await database.asUser(
    claims,
    (scope) => {
      const values = [MAX_RESULTS, ...(space === undefined || space === 'personal' ? [] : [space]), ...words]
      return scope.query<FoundRow>(searchSql(words.length, space), values)
    },
    SEARCH_SCOPE,
  )
  const slices = startTimeSlices()
  const found: FoundMessage[] = []
  for (const { content, ...row } of rows) {
    if (slices.isOver) await slices.next()
    found.push({ ...row, snippet: createSnippet(content, words) })
  }
  return found
}
