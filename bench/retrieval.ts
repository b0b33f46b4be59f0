/**
 * Quality and speed of search: `npm run bench -- retrieval <folder>`, with a collection in BEIR format (corpus.jsonl,
 * queries.jsonl, qrels.tsv) that goes through the code of uploads. `plainNDCG@10` is what `plain-bm25.ts` reaches.
 */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { Claims, Database } from '#server/database/scope.ts'
import { searchPassages } from '#server/search/search.ts'
import { readCorpus, readQueries } from './collection.ts'
import { type Library, openLibrary, type Person } from './library.ts'
import { indexPlainly } from './plain-bm25.ts'

/** Passages per query: enough for 100 documents by their best passage. */
const DEPTH = 300

async function readJudgements(file: string): Promise<Map<string, Map<string, number>>> {
  const judgements = new Map<string, Map<string, number>>()
  for (const line of (await readFile(file, 'utf8')).split('\n').slice(1)) {
    const [query, document, grade] = line.trim().split('\t')
    if (query === undefined || document === undefined || Number(grade) <= 0) continue
    const relevant = judgements.get(query) ?? new Map<string, number>()
    judgements.set(query, relevant.set(document, Number(grade)))
  }
  return judgements
}

const gain = (grade: number, rank: number) => (2 ** grade - 1) / Math.log2(rank + 2)

function ndcgAt10(ranking: readonly string[], relevant: ReadonlyMap<string, number>): number {
  const ideal = [...relevant.values()].toSorted((left, right) => right - left).slice(0, 10)
  const best = ideal.reduce((sum, grade, rank) => sum + gain(grade, rank), 0)
  const found = ranking.slice(0, 10).reduce((sum, document, rank) => sum + gain(relevant.get(document) ?? 0, rank), 0)
  return best === 0 ? 0 : found / best
}

const quantile = (sorted: readonly number[], share: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
const round = (value: number, digits: number) => Number(value.toFixed(digits))

/** Stores each text as a document of one owner; maps documents to texts. */
async function load(library: Library, person: Person, folder: string): Promise<Map<string, string>> {
  const ids = new Map<string, string>()
  for await (const { _id, title, text } of readCorpus(folder)) {
    const filename = (title.trim() || 'untitled').slice(0, 255)
    ids.set(await library.addDocument(person, filename, [text]), _id)
  }
  return ids
}

/** People with equal libraries, whose rows share pages of the tables. */
const PEOPLE = 10

/** Size of the index relative to the text, with one library and with ten. */
async function measureSize(library: Library, person: Person) {
  const measured = async () => {
    const bytes = await library.measureIndex()
    const { rows } = await library.admin.query<{ bytes: string }>(
      'select sum(octet_length(text)) as bytes from document_pages',
    )
    return { bytes, ratio: round(bytes / Number(rows[0]?.bytes), 2) }
  }
  const alone = await measured()
  for (let count = 1; count < PEOPLE; count += 1) await library.copyTo(person, await library.createPerson())
  const among = await measured()
  await library.admin.query('delete from auth.users where id <> $1', [person.sub])
  return { bytes: alone.bytes, alone: alone.ratio, amongTen: among.ratio }
}

/** Ranks documents by their best passage. */
function rankDocuments(found: readonly { documentId: string }[], ids: ReadonlyMap<string, string>): string[] {
  return [...new Set(found.map(({ documentId }) => ids.get(documentId) ?? ''))].slice(0, 100)
}

export async function run(args: string[]): Promise<Record<string, unknown>> {
  const [folder] = args
  if (folder === undefined)
    throw new Error('usage: npm run bench -- retrieval <folder with corpus.jsonl, queries.jsonl, qrels.tsv>')
  const library = await openLibrary()
  try {
    const person = await library.createPerson()
    const loadStartedAt = performance.now()
    const ids = await load(library, person, folder)
    const loadS = (performance.now() - loadStartedAt) / 1000
    const ingested = await measureSize(library, person)
    await library.mergeAll()
    const merged = await measureSize(library, person)
    const { rows } = await library.admin.query<{ passages: number }>('select count(*)::int as passages from passages')
    const { passages = 0 } = rows[0] ?? {}
    await library.admin.query('vacuum analyze')
    const judgements = await readJudgements(path.join(folder, 'qrels.tsv'))
    const figures = await measure(library.database, person, ids, judgements, folder)
    return {
      bench: 'retrieval',
      collection: path.basename(folder),
      documents: ids.size,
      passages,
      ...figures,
      indexToTextAfterIngestion: ingested.alone,
      indexToText: merged.alone,
      indexToTextAmongTenAfterIngestion: ingested.amongTen,
      indexToTextAmongTen: merged.amongTen,
      bytesPerPassage: Math.round(merged.bytes / passages),
      loadS: round(loadS, 1),
    }
  } finally {
    await library.close()
  }
}

async function measure(
  database: Database,
  claims: Claims,
  ids: ReadonlyMap<string, string>,
  judgements: ReadonlyMap<string, ReadonlyMap<string, number>>,
  folder: string,
) {
  const scores: number[] = []
  const plainScores: number[] = []
  const plain = await indexPlainly(readCorpus(folder))
  const recalls: number[] = []
  const times: number[] = []
  for await (const { _id, text } of readQueries(folder)) {
    const relevant = judgements.get(_id)
    if (!relevant) continue
    const deep = await database.asUser(claims, (scope) => searchPassages(scope, text, { limit: DEPTH }))
    const ranking = rankDocuments(deep, ids)
    scores.push(ndcgAt10(ranking, relevant))
    plainScores.push(ndcgAt10(plain.rank(text), relevant))
    recalls.push(ranking.filter((document) => relevant.has(document)).length / relevant.size)
    // Timed separately, with the product's limit: eight passages with their text.
    const startedAt = performance.now()
    await database.asUser(claims, (scope) => searchPassages(scope, text))
    times.push(performance.now() - startedAt)
  }
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / Math.max(values.length, 1)
  const sorted = times.toSorted((left, right) => left - right)
  return {
    queries: scores.length,
    'nDCG@10': round(mean(scores), 4),
    'plainNDCG@10': round(mean(plainScores), 4),
    'recall@100': round(mean(recalls), 4),
    p50Ms: round(quantile(sorted, 0.5), 2),
    p95Ms: round(quantile(sorted, 0.95), 2),
  }
}
