/** Message search of a person with many messages, against `ilike` on the messages under the policies. */
import type pg from 'pg'
import { searchMessages } from '#server/conversations/search-messages.ts'
import { openLibrary } from './library.ts'
import { compared, inTurn, timed } from './measure.ts'

const BATCH = 1_000

/** Zipf-like: the first words are common, the last ones rare. */
const VOCABULARY = Array.from({ length: 20_000 }, (_, rank) => `${rank.toString(26).replaceAll(/\d/g, 'v')}word${rank}`)
const anyWord = () => VOCABULARY[Math.floor(VOCABULARY.length * Math.random() ** 3)] ?? ''
const textOf = (words: number) => Array.from({ length: words }, anyWord).join(' ')

/** Questions of 15 words and answers of 150, fifty per conversation, among those of other people. */
async function load(admin: pg.Client, owner: string, messages: number): Promise<void> {
  for (let from = 0; from < messages; from += BATCH) {
    const contents = Array.from({ length: BATCH }, (_, index) => textOf(index % 2 === 0 ? 15 : 150))
    await admin.query(
      `with c as (insert into conversations (uid, model_name) select $1, 'bench' from generate_series(1, $3::int / 50) returning id),
         numbered as (select id, row_number() over () - 1 as number from c)
       insert into messages (conversation_id, sender_role, content)
       select id, 2, content from unnest($2::text[]) with ordinality as given (content, ordinality)
       join numbered on number = (ordinality - 1) / 50 order by ordinality`,
      [owner, contents, BATCH],
    )
  }
}

export async function run([messages = '50000', times = '15']: string[]): Promise<Record<string, unknown>> {
  const library = await openLibrary()
  const { database, admin } = library
  try {
    const claims = await library.createPerson()
    for (const { sub } of [claims, await library.createPerson()]) await load(admin, sub, Number(messages))
    await admin.query('vacuum analyze')
    const plainly = (search: string) =>
      database.asUser(claims, (scope) =>
        scope.query('select id, content from messages where content ilike $1 order by position desc limit 20', [
          `%${search}%`,
        ]),
      )
    const figures: Record<string, unknown> = {}
    const searches = { absent: 'nowhere', rare: 'word19990', common: 'word1', beginning: 'wo' }
    for (const [kind, search] of Object.entries(searches)) {
      const ours = () => timed(() => searchMessages(database, claims, search))
      const baseline = () => timed(() => plainly(search))
      await inTurn(2, ours, baseline)
      figures[kind] = compared(await inTurn(Number(times), ours, baseline))
    }
    return { messages: Number(messages), ...figures }
  } finally {
    await library.close()
  }
}
