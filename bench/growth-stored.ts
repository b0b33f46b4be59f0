/** A database that holds much: search in a large library, and a server that idles on the rows of many people. */
import { createDataDir, startAlcove } from '#test/alcove.ts'
import { fillMessages, withoutTriggers } from './growth-rows.ts'
import { residentMb } from './idle.ts'
import { type Library, type MadeDocument, openLibrary, type Person } from './library.ts'
import { anyWord, createRandom, makeText } from './made-text.ts'
import { inTurn, median, quantile, rounded, timed } from './measure.ts'
import { ask } from './search.ts'
import { JWT_SECRET, tokenOf } from './services.ts'
import { timeStart } from './start.ts'

const PAGES_PER_DOCUMENT = 20
const PASSAGE_CHARACTERS = 1_000
const DOCUMENTS_PER_TRANSACTION = 100
const TIMES_LARGER = 10
const QUESTIONS = 60
const ROUNDS = 3
const STARTS = 3

async function fillLibrary(
  library: Library,
  person: Person,
  { documents, pages }: { readonly documents: number; readonly pages: number },
): Promise<void> {
  const random = createRandom(documents)
  const makeDocument = (number: number): MadeDocument => ({
    filename: `${makeText(random, 12)} ${number}.txt`,
    pages: Array.from({ length: pages }, () => makeText(random, PASSAGE_CHARACTERS)),
  })
  for (let from = 0; from < documents; from += DOCUMENTS_PER_TRANSACTION) {
    const count = Math.min(DOCUMENTS_PER_TRANSACTION, documents - from)
    const batch = Array.from({ length: count }, (_, index) => makeDocument(from + index))
    await library.addDocuments(person, batch)
    await library.mergeAll()
  }
}

const makeQuestions = (): string[] => {
  const random = createRandom(QUESTIONS)
  return Array.from({ length: QUESTIONS }, () => Array.from({ length: 8 }, () => anyWord(random)).join(' '))
}

/** The first search of a started server, which has cached nothing. */
async function timeFirstSearch(dataDir: string, { sub }: Person, question: string): Promise<number> {
  const alcove = await startAlcove({ DATA_DIR: dataDir, LOG_LEVEL: 'warn', JWT_SECRET })
  const headers = { authorization: `Bearer ${await tokenOf(sub)}` }
  const elapsed = await timed(async () => {
    const response = await fetch(`${alcove.url}/api/search/documents?q=${encodeURIComponent(question)}`, { headers })
    const { passages } = (await response.json()) as { passages: unknown[] }
    if (passages.length === 0) throw new Error('the search found nothing')
  })
  await alcove.end()
  return elapsed
}

/** @param passages of the larger library */
export async function measureSearch(passages: number): Promise<Record<string, unknown>> {
  const { dataDir, remove } = await createDataDir()
  const library = await openLibrary(dataDir)
  const [large, small] = [await library.createPerson(), await library.createPerson()]
  const seedMs = await timed(async () => {
    const documents = Math.ceil(passages / TIMES_LARGER / PAGES_PER_DOCUMENT)
    await fillLibrary(library, small, { documents, pages: PAGES_PER_DOCUMENT })
    // Making each text would take many minutes; copies have as long posting lists.
    await withoutTriggers(library.admin, async () => {
      for (let count = 0; count < TIMES_LARGER; count += 1) await library.copyTo(small, large)
    })
    await library.mergeAll()
  })
  await library.admin.query('vacuum analyze')
  const { rows } = await library.admin.query<{ owner: string; passages: number; documents: number }>(
    'select owner, count(*)::int as passages, count(distinct document_id)::int as documents from passages group by owner',
  )
  const questions = makeQuestions()
  const asked = { large: 0, small: 0 }
  const next = (kind: 'large' | 'small') => questions[asked[kind]++ % questions.length] ?? ''
  const ours = () => timed(() => ask(library.database, large, next('large')))
  const baseline = () => timed(() => ask(library.database, small, next('small')))
  await inTurn(questions.length, ours, baseline)
  const warm = await inTurn(ROUNDS * questions.length, ours, baseline)
  await library.close()
  const [question = ''] = questions
  const first = await inTurn(
    STARTS,
    () => timeFirstSearch(dataDir, large, question),
    () => timeFirstSearch(dataDir, small, question),
  )
  await remove()
  const ratio = (share: number) => rounded(quantile(warm.ours, share) / quantile(warm.baseline, share))
  return {
    libraries: rows.map((counted) => ({ passages: counted.passages, documents: counted.documents })),
    seedS: rounded(seedMs / 1000, 0),
    p50Ms: rounded(median(warm.ours)),
    p50MsOfSmall: rounded(median(warm.baseline)),
    p50Ratio: ratio(0.5),
    p95Ms: rounded(quantile(warm.ours, 0.95)),
    p95MsOfSmall: rounded(quantile(warm.baseline, 0.95)),
    p95Ratio: ratio(0.95),
    warmGoal: 1.5,
    firstMs: rounded(median(first.ours)),
    firstMsOfSmall: rounded(median(first.baseline)),
    firstRatio: rounded(median(first.ours) / median(first.baseline)),
    firstGoal: 5,
  }
}

const DOCUMENTS_PER_PERSON = 100
const MESSAGES_PER_PERSON = 1_000
const SETTLE_MS = 20_000
const IDLE_STARTS = 5

/** Copies one person's documents and index to all others, and adds messages of everybody. */
async function fillPeople(dataDir: string, people: number): Promise<{ messages: number; documents: number }> {
  const library = await openLibrary(dataDir)
  const { admin } = library
  const first = await library.createPerson()
  await fillLibrary(library, first, { documents: DOCUMENTS_PER_PERSON, pages: 1 })
  await withoutTriggers(admin, async () => {
    for (let count = 1; count < people; count += 1) await library.copyTo(first, await library.createPerson())
  })
  await fillMessages(admin, people * MESSAGES_PER_PERSON)
  const { rows } = await admin.query<{ messages: number; documents: number }>(
    'select (select count(*)::int from messages) as messages, (select count(*)::int from documents) as documents',
  )
  await library.close()
  return rows[0] ?? { messages: 0, documents: 0 }
}

export async function measureIdle(people: number): Promise<Record<string, unknown>> {
  const [full, empty] = [await createDataDir(), await createDataDir()]
  const environmentOf = ({ dataDir }: { dataDir: string }) => ({ DATA_DIR: dataDir, LOG_LEVEL: 'warn' })
  const startedAt = performance.now()
  const stored = await fillPeople(full.dataDir, people)
  const seedMs = performance.now() - startedAt
  const starts = { full: [] as number[], empty: [] as number[] }
  const start = (folder: typeof full, kind: keyof typeof starts) => async () => {
    const { wholeMs, lessPostgresMs } = await timeStart(environmentOf(folder))
    starts[kind].push(lessPostgresMs)
    return wholeMs
  }
  // The first start of a folder adds the tables of jobs, and that of a checkout compiles code.
  await inTurn(1, start(full, 'full'), start(empty, 'empty'))
  starts.full = []
  starts.empty = []
  const whole = await inTurn(IDLE_STARTS, start(full, 'full'), start(empty, 'empty'))
  const memory = await inTurn(
    2,
    () => residentMb(environmentOf(full), SETTLE_MS),
    () => residentMb(environmentOf(empty), SETTLE_MS),
  )
  await Promise.all([full.remove(), empty.remove()])
  const ratioOf = (ours: readonly number[], baseline: readonly number[]) => rounded(median(ours) / median(baseline))
  return {
    people,
    ...stored,
    seedS: rounded(seedMs / 1000, 0),
    residentMb: median(memory.ours),
    residentMbOfEmpty: median(memory.baseline),
    residentRatio: ratioOf(memory.ours, memory.baseline),
    startMs: rounded(median(whole.ours), 0),
    startMsOfEmpty: rounded(median(whole.baseline), 0),
    startRatio: ratioOf(whole.ours, whole.baseline),
    lessPostgresMs: rounded(median(starts.full), 0),
    lessPostgresMsOfEmpty: rounded(median(starts.empty), 0),
    lessPostgresRatio: ratioOf(starts.full, starts.empty),
    goal: 1.1,
  }
}
