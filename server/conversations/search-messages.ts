/** Finds what was said in a person's conversations, as they type what they look for. */
import { type FoundMessage } from '#contract/search.ts'
import { type Claims, type Database, type TransactionOptions } from '#server/database/scope.ts'
import { createSnippet } from './snippet.ts'

const MAX_WORDS = 8
const MAX_RESULTS = 20

/**
 * Newest first by the index, ending at the last hit that is shown: the planner takes everyone for a person with few
 * messages, and would read and sort all of them.
 */
export const SEARCH_SCOPE: TransactionOptions = {
  readOnly: true,
  settings: { enable_sort: 'off', enable_bitmapscan: 'off', enable_seqscan: 'off' },
}

type FoundRow = Omit<FoundMessage, 'snippet'> & { content: string }

function searchSql(words: number): string {
  // One condition a word: a list of them would be unrolled for every row.
  const conditions = Array.from(
    { length: words },
    (_, index) => `strpos(t.text, (select fold_text($${index + 2}))) > 0`,
  )
  return `
    with found as materialized (
      select t.message_id from message_texts t
      where t.owner = (select auth.uid()) and ${conditions.join(' and ')}
      order by t.position desc limit $1
    )
    select m.id as message_id, m.conversation_id, m.position, m.sender_role, to_jsonb(m.created_at) #>> '{}' as created_at,
      c.title, m.content
    from found join messages m on m.id = found.message_id join conversations c on c.id = m.conversation_id
    order by m.position desc`
}

/**
 * The newest messages that hold all the words, in whatever order; a word may be the beginning, or any part, of one in the
 * text. What there is to find is decided by the policies.
 */
export async function searchMessages(database: Database, claims: Claims, search: string): Promise<FoundMessage[]> {
  // PostgreSQL takes no NUL, and no message holds one.
  const words = search.replaceAll('\u0000', ' ').split(/\s+/).filter(Boolean).slice(0, MAX_WORDS)
  if (words.length === 0) return []
  const { rows } = await database.asUser(
    claims,
    (scope) => scope.query<FoundRow>(searchSql(words.length), [MAX_RESULTS, ...words]),
    SEARCH_SCOPE,
  )
  return rows.map(({ content, ...row }) => ({ ...row, snippet: createSnippet(content, words) }))
}
