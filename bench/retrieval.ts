/**
 * How well and how fast passages are found: `npm run bench -- retrieval <folder>`. The folder holds a collection in BEIR
 * format (corpus.jsonl, queries.jsonl, qrels.tsv), whose texts go through the same code as uploaded documents.
 */
import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdtemp, readFile, rm, chmod } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import pg from 'pg'
import { z } from 'zod'
import { createLog } from '#server/base/log.ts'
import { startEmbedded } from '#server/database/embedded.ts'
import { migrate } from '#server/database/migrate.ts'
import { type Claims, type Database, openDatabase } from '#server/database/scope.ts'
import { indexDocument } from '#server/documents/indexing.ts'
import { searchPassages } from '#server/documents/search.ts'

const corpusLine = z.object({ _id: z.string(), title: z.string().default(''), text: z.string() })
const queryLine = z.object({ _id: z.string(), text: z.string() })

/** Passages looked at per query: enough for 100 documents by their best passage. */
const DEPTH = 300

async function* readLines<T>(file: string, schema: z.ZodType<T>): AsyncGenerator<T> {
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
    if (line.trim() !== '') yield schema.parse(JSON.parse(line))
  }
}

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

/** Stores each text as a document of one owner; answers which document holds which text. */
async function load(database: Database, admin: pg.Client, owner: string, file: string): Promise<Map<string, string>> {
  const ids = new Map<string, string>()
  for await (const { _id, title, text } of readLines(file, corpusLine)) {
    const id = randomUUID()
    ids.set(id, _id)
    const filename = (title.trim() || 'untitled').slice(0, 255)
    await admin.query(
      `insert into documents (id, owner, filename, originalname, mimetype, size, path, sha256, state)
       values ($1, $2, $3, $3, 'text/plain', 0, $4, $4, 'ready')`,
      [id, owner, filename, id],
    )
    const page = { page: 1, text: text.replaceAll('\0', ' '), headings: null }
    await database.asService(async (scope) => {
      await scope.query('insert into document_pages (document_id, owner, page, text) values ($1, $2, 1, $3)', [
        id,
        owner,
        page.text,
      ])
      await indexDocument(scope, { id, owner, filename }, [page])
    })
  }
  return ids
}

/** Ranks documents by their best passage. */
function rankDocuments(found: readonly { documentId: string }[], ids: ReadonlyMap<string, string>): string[] {
  return [...new Set(found.map(({ documentId }) => ids.get(documentId) ?? ''))].slice(0, 100)
}

export async function run(args: string[]): Promise<Record<string, unknown>> {
  const [folder] = args
  if (folder === undefined)
    throw new Error('usage: npm run bench -- retrieval <folder with corpus.jsonl, queries.jsonl, qrels.tsv>')
  const dataDir = await mkdtemp(path.join(tmpdir(), 'alcove-bench-'))
  await chmod(dataDir, 0o711)
  const log = createLog('silent')
  const embedded = await startEmbedded(dataDir, randomUUID(), log)
  const password = randomUUID()
  await migrate(embedded.admin, password)
  const database = openDatabase({ ...embedded.admin, user: 'authenticator', password }, log)
  const admin = new pg.Client(embedded.admin)
  await admin.connect()
  try {
    const claims: Claims = { role: 'authenticated', sub: randomUUID() }
    await admin.query('insert into auth.users (id, email) values ($1, $2)', [claims.sub, 'bench@example.test'])
    const loadStartedAt = performance.now()
    const ids = await load(database, admin, claims.sub ?? '', path.join(folder, 'corpus.jsonl'))
    const loadS = (performance.now() - loadStartedAt) / 1000
    await admin.query('vacuum analyze')
    const judgements = await readJudgements(path.join(folder, 'qrels.tsv'))
    const figures = await measure(database, claims, ids, judgements, path.join(folder, 'queries.jsonl'))
    const sizes = await admin.query<{ passages: number; text_bytes: string; index_bytes: string }>(
      `select (select count(*)::int from passages) as passages, (select sum(octet_length(text)) from document_pages) as text_bytes,
         pg_total_relation_size('postings') + pg_total_relation_size('passages') + pg_total_relation_size('document_index') as index_bytes`,
    )
    const size = sizes.rows[0]
    return {
      bench: 'retrieval',
      collection: path.basename(folder),
      documents: ids.size,
      passages: size?.passages,
      ...figures,
      indexToText: round(Number(size?.index_bytes) / Number(size?.text_bytes), 2),
      loadS: round(loadS, 1),
    }
  } finally {
    await admin.end()
    await database.close()
    await embedded.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
}

async function measure(
  database: Database,
  claims: Claims,
  ids: ReadonlyMap<string, string>,
  judgements: ReadonlyMap<string, ReadonlyMap<string, number>>,
  queriesFile: string,
) {
  const scores: number[] = []
  const recalls: number[] = []
  const times: number[] = []
  for await (const { _id, text } of readLines(queriesFile, queryLine)) {
    const relevant = judgements.get(_id)
    if (!relevant) continue
    const deep = await database.asUser(claims, (scope) => searchPassages(scope, text, { limit: DEPTH }))
    const ranking = rankDocuments(deep, ids)
    scores.push(ndcgAt10(ranking, relevant))
    recalls.push(ranking.filter((document) => relevant.has(document)).length / relevant.size)
    // Timed apart, and as the product asks: eight passages with their text.
    const startedAt = performance.now()
    await database.asUser(claims, (scope) => searchPassages(scope, text))
    times.push(performance.now() - startedAt)
  }
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / Math.max(values.length, 1)
  const sorted = times.toSorted((left, right) => left - right)
  return {
    queries: scores.length,
    'nDCG@10': round(mean(scores), 4),
    'recall@100': round(mean(recalls), 4),
    p50Ms: round(quantile(sorted, 0.5), 2),
    p95Ms: round(quantile(sorted, 0.95), 2),
  }
}
