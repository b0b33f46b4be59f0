/**
 * The cost of spaces: `npm run bench -- spaces <folder of a BEIR collection>`. A member of twenty spaces against a person without
 * any, each with 5,000 passages and 1,000 conversations of their own: lists, searches, and a search within one of the spaces.
 * The index of a space is measured with one member and with two hundred.
 */
import { listPinnedFirst } from '#server/conversations/queries.ts'
import { type Database, onlyLibrary, type Scope } from '#server/database/scope.ts'
import { searchPassages } from '#server/search/search.ts'
import { readQueries } from './collection.ts'
import { type Library, openLibrary, type Person } from './library.ts'
import { compared, inTurn, timed } from './measure.ts'
import { fillLibrary, readSentences } from './search.ts'

const SPACES = 20
const PASSAGES = 5_000
const CONVERSATIONS = 1_000
const SHARED_IN_EACH = 50
const MEMBERS = 200
const ROUNDS = 200
const QUESTIONS = 60

async function readQuestions(folder: string): Promise<string[]> {
  const questions: string[] = []
  for await (const { text } of readQueries(folder)) questions.push(text)
  return questions.slice(0, QUESTIONS)
}

async function addConversations({ admin }: Library, { sub }: Person, space: string | null, count: number) {
  await admin.query(
    `insert into conversations (uid, title, model_name, started_at, space_id, is_shared)
     select $1, 'Conversation ' || n, 'alcove-reader', now() - make_interval(mins => n), $2, $2::uuid is not null
     from generate_series(1, $3::int) n`,
    [sub, space, count],
  )
}

async function makeSpace({ admin }: Library, owner: Person): Promise<string> {
  const { rows } = await admin.query<{ id: string }>(
    `insert into spaces (name, created_by) values ('A space', $1) returning id`,
    [owner.sub],
  )
  return rows[0]?.id ?? ''
}

const addMember = ({ admin }: Library, space: string, { sub }: Person) =>
  admin.query(`insert into space_members (space_id, user_id, role) values ($1, $2, 'editor')`, [space, sub])

const read = <T>(database: Database, person: Person, run: (scope: Scope) => Promise<T>, settings = {}) =>
  timed(() => database.asUser(person, run, { readOnly: true, settings }))

export async function run([folder]: string[]): Promise<Record<string, unknown>> {
  if (folder === undefined)
    throw new Error('usage: npm run bench -- spaces <folder with corpus.jsonl and queries.jsonl>')
  const [sentences, questions] = [await readSentences(folder), await readQuestions(folder)]
  const library = await openLibrary()
  const { database, admin } = library
  try {
    const [alone, member, owner, equal] = [
      await library.createPerson(),
      await library.createPerson(),
      await library.createPerson(),
      await library.createPerson(),
    ]
    await fillLibrary(library, alone, PASSAGES, sentences)
    await library.copyTo(alone, member)
    const spaces: string[] = []
    for (let count = 0; count < SPACES; count += 1) {
      const space = await makeSpace(library, owner)
      await addMember(library, space, member)
      await addConversations(library, owner, space, SHARED_IN_EACH)
      spaces.push(space)
    }
    const [space = ''] = spaces
    await library.copyTo(alone, owner, { owner: owner.sub, space })
    for (const person of [alone, member]) await addConversations(library, person, null, CONVERSATIONS)
    // `equal` has no spaces, and as many readable conversations as the member.
    await addConversations(library, equal, null, CONVERSATIONS + SPACES * SHARED_IN_EACH)
    await library.mergeAll()
    const bytesWithFew = await library.measureIndex()
    for (let count = 2; count < MEMBERS; count += 1) await addMember(library, space, await library.createPerson())
    const bytesWithMany = await library.measureIndex()
    await admin.query('vacuum analyze')

    const list = (person: Person) => () =>
      read(database, person, (scope) => listPinnedFirst(scope, person.sub, { space: 'personal', limit: 100 }))
    const selectAll = (person: Person) => () =>
      read(database, person, (scope) => scope.query('select * from conversations order by started_at desc limit 100'))
    let asked = 0
    const search = (person: Person, ownLibrary: string) => () =>
      read(
        database,
        person,
        (scope) => searchPassages(scope, questions[(asked += 1) % questions.length] ?? ''),
        onlyLibrary(ownLibrary),
      )
    const compare = async (ours: () => Promise<number>, baseline: () => Promise<number>) => {
      await inTurn(QUESTIONS, ours, baseline)
      return compared(await inTurn(ROUNDS, ours, baseline))
    }
    return {
      list: await compare(list(member), list(alone)),
      select: await compare(selectAll(member), selectAll(equal)),
      selectTwiceAsMany: await compare(selectAll(member), selectAll(alone)),
      search: await compare(search(member, member.sub), search(alone, alone.sub)),
      searchInSpace: await compare(search(member, space), search(alone, alone.sub)),
      indexRatio: bytesWithMany / bytesWithFew,
    }
  } finally {
    await library.close()
  }
}
