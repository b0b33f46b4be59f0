/**
 * Search latency in libraries of 1,000, 5,000 and 100,000 passages, against `ts_rank_cd` with OR-ed words over GIN:
 * `npm run bench -- search <folder> [passages]`. Passages combine sentences of a BEIR collection; the largest library
 * copies the one before it.
 */
import type { Database } from '#server/database/scope.ts'
import { searchPassages } from '#server/search/search.ts'
import { splitSentences } from '#server/search/text/split-sentences.ts'
import { readCorpus, readQueries } from './collection.ts'
import { type Library, openLibrary, type Person } from './library.ts'
import { createRandom } from './made-text.ts'
import { inTurn, median, quantile, rounded, timed } from './measure.ts'

const PASSAGE_CHARACTERS = 1_000
const PAGES_PER_DOCUMENT = 250
const QUESTIONS = 60
/** The 95th percentile of sixty questions is the third slowest. */
const ROUNDS = 3
const NEIGHBOURS = 100
const SMALL = 1_000
const MEDIUM = 5_000

export async function readSentences(folder: string): Promise<string[]> {
  const sentences: string[] = []
  for await (const { text } of readCorpus(folder))
    for (const { start, end } of splitSentences(text)) sentences.push(text.slice(start, end).replace(/\s+/g, ' '))
  return sentences
}

async function readQuestions(folder: string): Promise<string[]> {
  const questions: string[] = []
  for await (const { text } of readQueries(folder)) {
    const words = text.split(/\s+/).length
    if (words >= 6 && words <= 14) questions.push(text)
  }
  return questions.slice(0, QUESTIONS)
}

function makePage(sentences: readonly string[], random: (below: number) => number): string {
  let page = ''
  while (page.length < PASSAGE_CHARACTERS) page += `${sentences[random(sentences.length)] ?? ''} `
  return page.slice(0, PASSAGE_CHARACTERS).trim()
}

/** The usual full-text table, as the baseline. */
const BASELINE_TABLE = `
  create extension if not exists btree_gin;
  create table baseline (owner uuid not null, document_id uuid not null, page integer not null, words tsvector not null);`
const BASELINE_ROWS = `
  insert into baseline select owner, document_id, page, to_tsvector('english', text) from document_pages where owner = $1`
const BASELINE_INDEX = 'create index on baseline using gin (owner, words); analyze baseline'
const BASELINE_SEARCH = `
  select d.filename, t.text, found.rank from (
    select document_id, page, ts_rank_cd(words, query) as rank
    from baseline, to_tsquery('english', $2) as query
    where owner = $1 and words @@ query order by rank desc limit 8
  ) as found
  join document_pages t using (document_id, page) join documents d on d.id = found.document_id`

const asOred = (question: string) => (question.match(/[\p{L}\p{N}]+/gu) ?? []).join(' | ')

export async function fillLibrary(
  library: Library,
  person: Person,
  passages: number,
  sentences: readonly string[],
): Promise<number> {
  const random = createRandom(passages)
  let bytes = 0
  for (let made = 0; made < passages; made += PAGES_PER_DOCUMENT) {
    const pages = Array.from({ length: Math.min(PAGES_PER_DOCUMENT, passages - made) }, () =>
      makePage(sentences, random),
    )
    bytes += pages.reduce((sum, page) => sum + Buffer.byteLength(page), 0)
    await library.addDocument(person, `${made}.txt`, pages)
  }
  return bytes
}

/** As in the product, in a read-only transaction. */
export const ask = (database: Database, person: Person, question: string) =>
  database.asUser(person, (scope) => searchPassages(scope, question), { readOnly: true })

async function measure({ database, admin }: Library, person: Person, questions: readonly string[]) {
  const asked = { ours: 0, baseline: 0 }
  const next = (side: 'ours' | 'baseline') => questions[asked[side]++ % questions.length] ?? ''
  const ours = () => timed(() => ask(database, person, next('ours')))
  const baseline = () => timed(() => admin.query(BASELINE_SEARCH, [person.sub, asOred(next('baseline'))]))
  await inTurn(questions.length, ours, baseline)
  const figures = await inTurn(ROUNDS * questions.length, ours, baseline)
  const ratio = (share: number) => rounded(quantile(figures.ours, share) / quantile(figures.baseline, share), 3)
  return {
    p50Ms: rounded(median(figures.ours)),
    p95Ms: rounded(quantile(figures.ours, 0.95)),
    baselineP50Ms: rounded(median(figures.baseline)),
    baselineP95Ms: rounded(quantile(figures.baseline, 0.95)),
    ratioP50: ratio(0.5),
    ratioP95: ratio(0.95),
  }
}

async function measureAlone({ database }: Library, person: Person, questions: readonly string[]): Promise<number[]> {
  const times: number[] = []
  for (let round = 0; round < 3; round += 1)
    for (const question of questions) times.push(await timed(() => ask(database, person, question)))
  return times.slice(questions.length)
}

export async function run([folder, largest = '100000']: string[]): Promise<Record<string, unknown>> {
  if (folder === undefined)
    throw new Error('usage: npm run bench -- search <folder with corpus.jsonl and queries.jsonl>')
  const [sentences, questions] = [await readSentences(folder), await readQuestions(folder)]
  const library = await openLibrary()
  try {
    const small = await library.createPerson()
    await fillLibrary(library, small, SMALL, sentences)
    await library.mergeAll()
    await library.admin.query('vacuum analyze')
    const alone = await measureAlone(library, small, questions)
    for (let count = 0; count < NEIGHBOURS; count += 1) await library.copyTo(small, await library.createPerson())
    await library.admin.query('vacuum analyze')
    const among = await measureAlone(library, small, questions)
    await library.admin.query(`delete from auth.users where id <> '${small.sub}'`)

    const sizes = [SMALL, MEDIUM, Number(largest)]
    const [medium, large] = [await library.createPerson(), await library.createPerson()]
    const people = [small, medium, large]
    const startedAt = performance.now()
    const mediumBytes = await fillLibrary(library, medium, MEDIUM, sentences)
    const indexS = (performance.now() - startedAt) / 1000
    const copies = Math.ceil(Number(largest) / MEDIUM)
    for (let count = 0; count < copies; count += 1) await library.copyTo(medium, large)
    const ingestedBytes = await library.measureIndex()
    await library.mergeAll()
    const mergedBytes = await library.measureIndex()
    await library.admin.query(BASELINE_TABLE)
    for (const { sub } of people) await library.admin.query(BASELINE_ROWS, [sub])
    await library.admin.query(BASELINE_INDEX)
    await library.admin.query('vacuum analyze')
    const figures: Record<string, unknown> = {}
    for (const [index, person] of people.entries())
      figures[String(sizes[index])] = await measure(library, person, questions)
    const text = mediumBytes * (copies + 1) + SMALL * PASSAGE_CHARACTERS
    const passages = SMALL + MEDIUM * (copies + 1)
    return {
      questions: questions.length,
      libraries: figures,
      amongOthers: {
        people: NEIGHBOURS,
        aloneP50Ms: rounded(median(alone)),
        amongP50Ms: rounded(median(among)),
        ratioP50: rounded(median(among) / median(alone)),
        ratioP95: rounded(quantile(among, 0.95) / quantile(alone, 0.95)),
      },
      indexToTextAfterIngestion: rounded(ingestedBytes / text),
      indexToText: rounded(mergedBytes / text),
      bytesPerPassage: Math.round(mergedBytes / passages),
      indexS5000: rounded(indexS, 0),
    }
  } finally {
    await library.close()
  }
}
