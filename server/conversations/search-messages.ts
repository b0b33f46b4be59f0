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

/** The index of a space, or that of the person's own messages. */
const PLACES = {
  any: 't.owner = (select auth.uid())',
  personal: 't.owner = (select auth.uid()) and t.space_id is null',
  space: 't.space_id = $2',
}

function searchSql(words: number, place: string, firstWord: number): string {
  // One condition per word: PostgreSQL would unroll a list for every row.
  const conditions = Array.from(
    { length: words },
    (_, index) => `strpos(t.text, (select fold_text($${index + firstWord}))) > 0`,
  )
  return `
    with found as materialized (
      select t.message_id from message_texts t
      where ${place} and ${conditions.join(' and ')}
      order by t.position desc limit $1
    )
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
      const inSpace = space !== undefined && space !== 'personal'
      const place = inSpace ? PLACES.space : PLACES[space ?? 'any']
      const values = [MAX_RESULTS, ...(inSpace ? [space] : []), ...words]
      return scope.query<FoundRow>(searchSql(words.length, place, inSpace ? 3 : 2), values)
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
