/** Inserts very many rows of people directly, without triggers: nothing is notified, counted or answered. */
import type pg from 'pg'
import { TOKENIZER_VERSION } from '#server/search/text/tokenizer.ts'

/** Letters that labels of rows hardly have. */
const LETTERS = 'bfgkpqxz'
const CODE_LENGTH = 6
/** Odd, so that no code comes twice. */
const CODE_STEP = 104_729

/** Six letters, of which any three or four in a row are shared by few of ten thousand. */
export function codeOf(index: number): string {
  const count = LETTERS.length
  const number = ((index + 1) * CODE_STEP) % count ** CODE_LENGTH
  return Array.from({ length: CODE_LENGTH }, (_, place) => LETTERS[Math.floor(number / count ** place) % count])
    .toReversed()
    .join('')
}

export async function withoutTriggers(admin: pg.Client, write: () => Promise<void>): Promise<void> {
  await admin.query('set session_replication_role = replica')
  await write()
  await admin.query('reset session_replication_role')
  await admin.query('analyze')
}

/** Conversations and documents of a person, one an hour, named by their codes; nothing else is on the start page. */
export async function fillLists(admin: pg.Client, owner: string, count: number): Promise<void> {
  const codes = Array.from({ length: count }, (_, index) => codeOf(index))
  await withoutTriggers(admin, async () => {
    await admin.query(
      `insert into user_settings (owner, onboarding_dismissed) values ($1, true)
       on conflict (owner) do update set onboarding_dismissed = true`,
      [owner],
    )
    await admin.query(
      `insert into conversations (uid, title, model_name, started_at)
       select $1, 'Matter ' || code, 'alcove-reader', now() - ordinality * interval '1 hour'
       from unnest($2::text[]) with ordinality as given (code, ordinality)`,
      [owner, codes],
    )
    await admin.query(
      `with added as (
         insert into documents (id, owner, filename, originalname, mimetype, size, path, sha256, state, pages, pages_done,
           parsed_at, series, uploaded_at, library)
         select id, $1, name, name, 'text/plain', 300, id, id, 'ready', 1, 1, at, id, at, $1::uuid
         from (
           select gen_random_uuid() as id, 'note-' || code || '.md' as name, now() - ordinality * interval '1 hour' as at
           from unnest($2::text[]) with ordinality as given (code, ordinality)
         ) named
         returning id, filename
       )
       insert into document_index (document_id, owner, tokenizer, language, filename, passages, length, segment, first_passage)
       select id, $1, $3, 'english', filename, 0, 0, null, 0 from added`,
      [owner, codes, TOKENIZER_VERSION],
    )
  })
}

const MESSAGES_PER_CONVERSATION = 100

/** Answered conversations of everybody, with all that is stored about their messages. */
export async function fillMessages(admin: pg.Client, messages: number): Promise<void> {
  const { rows } = await admin.query<{ people: number }>('select count(*)::int as people from auth.users')
  const conversations = Math.ceil(messages / MESSAGES_PER_CONVERSATION / (rows[0]?.people ?? 1))
  await withoutTriggers(admin, async () => {
    await admin.query(
      `insert into conversations (uid, title, model_name)
       select id, 'Conversation ' || n, 'alcove-reader' from auth.users, generate_series(1, $1) as n`,
      [conversations],
    )
    await admin.query(
      `insert into messages (conversation_id, content, sender_role)
       select c.id, 'Message ' || n || ' of a conversation about lamps, harbours and letters.', 2 - n % 2
       from conversations c, generate_series(1, $1) as n`,
      [MESSAGES_PER_CONVERSATION],
    )
    await admin.query(
      `insert into message_texts (message_id, owner, position, text)
       select m.id, c.uid, m.position, fold_text(m.content) from messages m join conversations c on c.id = m.conversation_id`,
    )
    await admin.query(
      `insert into replies (message_id, conversation_id, owner, state, attempt, tries, finished_at)
       select m.id, c.id, c.uid, 'done', 1, 1, now() from messages m join conversations c on c.id = m.conversation_id
       where m.sender_role = 1`,
    )
  })
}
