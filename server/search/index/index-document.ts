import type { Scope } from '#server/database/scope.ts'
import { stemInLanguage } from '#server/search/text/stemmer.ts'
import { TOKENIZER_VERSION } from '#server/search/text/tokenizer.ts'
import { readVectorUsage, restoreVectorUsage } from '#server/search/vectors/vector-store.ts'
import type { BatchTerms, IndexedText, TextToIndex } from './batch-terms.ts'
import type { PageToIndex } from './document-terms.ts'
import type { PackedSegment } from './pack-segment.ts'
import { insertSegment } from './segments.ts'
import { inIndexThread, type RunIndexTask } from './worker-thread.ts'

export interface DocumentToIndex {
  readonly id: string
  readonly owner: string
  readonly filename: string
}

const MAX_PASSAGES = 65_536
const BATCH_ROWS = 5_000
/** Small batches let the server answer requests in between. */
const BATCH_CHARACTERS = 200_000
const BATCH_WORDS = 2_000

export class TooManyPassagesError extends Error {}

/** Replaces a document's index, as the service, in the transaction that makes it ready. @throws TooManyPassagesError */
export async function indexDocument(
  scope: Scope,
  document: DocumentToIndex,
  pages: AsyncIterable<PageToIndex> | Iterable<PageToIndex>,
): Promise<void> {
  const { indexed, segment } = await computeDocument(scope, document, pages)
  await removeIndex(scope, document.id)
  await insertPassages(scope, document.owner, rowsOf(indexed))
  await insertEntries(scope, document.owner, indexed, segment)
}

/**
 * Replaces the index of a document whose pages have not changed since it was made, as the service. Passages that come
 * out equal keep their rows and thereby their vectors, which a provider may have been paid for.
 * @throws TooManyPassagesError
 */
export async function reindexDocument(
  scope: Scope,
  document: DocumentToIndex,
  pages: AsyncIterable<PageToIndex> | Iterable<PageToIndex>,
): Promise<void> {
  const { id, owner } = document
  const { indexed, segment } = await computeDocument(scope, document, pages)
  const usage = await readVectorUsage(scope, document)
  const { rowCount } = await scope.query('delete from document_index where document_id = $1', [id])
  // Vectors without an index entry are not counted, so they are made again.
  if (rowCount === 0) await removeIndex(scope, id)
  await insertPassages(scope, owner, await deleteChangedPassages(scope, document, rowsOf(indexed)))
  await insertEntries(scope, owner, indexed, segment)
  await restoreVectorUsage(scope, id, usage)
}

async function computeDocument(
  scope: Scope,
  document: DocumentToIndex,
  pages: AsyncIterable<PageToIndex> | Iterable<PageToIndex>,
): Promise<{ readonly indexed: readonly IndexedDocument[]; readonly segment: PackedSegment }> {
  const { documents, segment } = await inIndexThread(async (run) => {
    for await (const batch of inBatches(pages)) {
      if ((await run('addPages', batch)) > MAX_PASSAGES) throw new TooManyPassagesError()
    }
    return computeIndex(run, scope, await run('listWords', document.filename))
  })
  return { indexed: documents.map((text) => ({ document, ...text })), segment }
}

/** Indexes new documents of one owner as one segment, as the service. @throws TooManyPassagesError */
export async function indexNewDocuments(
  scope: Scope,
  owner: string,
  documents: readonly (DocumentToIndex & Pick<TextToIndex, 'pages'>)[],
): Promise<void> {
  const { documents: texts, segment } = await inIndexThread(async (run) => {
    const texts = documents.map(({ filename, pages }) => ({ filename, pages }))
    return computeIndex(run, scope, await run('addTexts', texts))
  })
  const indexed = documents.flatMap((document, index) => {
    const text = texts[index]
    return text ? [{ document, ...text }] : []
  })
  if (segment.passages > MAX_PASSAGES) throw new TooManyPassagesError()
  await insertPassages(scope, owner, rowsOf(indexed))
  await insertEntries(scope, owner, indexed, segment)
}

interface IndexedDocument extends IndexedText {
  readonly document: DocumentToIndex
}

async function insertEntries(
  scope: Scope,
  owner: string,
  indexed: readonly IndexedDocument[],
  segment: PackedSegment,
): Promise<void> {
  const lengths = indexed.map(({ passages }) => passages.reduce((sum, passage) => sum + passage.length, 0))
  const totals = {
    length: lengths.reduce((sum, length) => sum + length, 0),
    languages: [...new Set(indexed.flatMap(({ language, passages }) => (passages.length > 0 ? [language] : [])))],
  }
  const number = segment.passages === 0 ? null : await insertSegment(scope, owner, segment, totals)
  const counts = indexed.map(({ passages }) => passages.length)
  await scope.query(
    `insert into document_index (document_id, owner, tokenizer, language, filename, passages, length, segment, first_passage)
     select id, $1, $2, language, filename, passages, length, case when passages > 0 then $3::bigint end,
       case when passages > 0 then first else 0 end
     from unnest($4::uuid[], $5::text[], $6::text[], $7::int[], $8::int[], $9::int[])
       as given (id, language, filename, passages, length, first)`,
    [
      owner,
      TOKENIZER_VERSION,
      number,
      indexed.map(({ document }) => document.id),
      indexed.map(({ language }) => language),
      indexed.map(({ document }) => document.filename),
      counts,
      lengths,
      counts.map((_, index) => counts.slice(0, index).reduce((sum, count) => sum + count, 0)),
    ],
  )
}

async function computeIndex(
  run: RunIndexTask,
  scope: Scope,
  wordsByLanguage: ReadonlyMap<string, readonly string[]>,
): Promise<ReturnType<BatchTerms['pack']>> {
  for (const [language, words] of wordsByLanguage)
    for (let from = 0; from < words.length; from += BATCH_WORDS)
      await run('addTerms', language, await stemInLanguage(scope, words.slice(from, from + BATCH_WORDS), language))
  return run('packBatch')
}

async function* inBatches(pages: AsyncIterable<PageToIndex> | Iterable<PageToIndex>): AsyncGenerator<PageToIndex[]> {
  let [batch, characters]: [PageToIndex[], number] = [[], 0]
  for await (const page of pages) {
    batch.push(page)
    characters += page.text.length
    if (characters < BATCH_CHARACTERS) continue
    yield batch
    batch = []
    characters = 0
  }
  if (batch.length > 0) yield batch
}

interface PassageRow {
  readonly id: string
  readonly passage: number
  readonly page: number
  readonly start: number
  readonly end: number
  readonly heading: string | null
}

const rowsOf = (indexed: readonly IndexedDocument[]): PassageRow[] =>
  indexed.flatMap(({ document: { id }, passages }) =>
    passages.map(({ page, start, end, heading }, passage) => ({
      id,
      passage,
      page,
      start,
      end,
      heading: heading ?? null,
    })),
  )

/** Returns the rows that are to be inserted. */
async function deleteChangedPassages(
  scope: Scope,
  { id, owner }: DocumentToIndex,
  wanted: readonly PassageRow[],
): Promise<PassageRow[]> {
  const { rows } = await scope.query<PassageRow & { owner: string }>(
    `select document_id as id, owner, passage, page, "start", "end", heading from passages where document_id = $1`,
    [id],
  )
  const stored = new Map(rows.map((row) => [row.passage, row]))
  const missing = wanted.filter((row) => {
    const found = stored.get(row.passage)
    const isEqual =
      found?.owner === owner &&
      found.page === row.page &&
      found.start === row.start &&
      found.end === row.end &&
      found.heading === row.heading
    if (isEqual) stored.delete(row.passage)
    return !isEqual
  })
  await scope.query('delete from passages where document_id = $1 and passage = any ($2)', [id, [...stored.keys()]])
  return missing
}

async function insertPassages(scope: Scope, owner: string, rows: readonly PassageRow[]): Promise<void> {
  for (let from = 0; from < rows.length; from += BATCH_ROWS) {
    const batch = rows.slice(from, from + BATCH_ROWS)
    await scope.query(
      `insert into passages (document_id, owner, passage, page, "start", "end", heading)
       select id, $1, passage, page, "start", "end", heading
       from unnest($2::uuid[], $3::int[], $4::int[], $5::int[], $6::int[], $7::text[])
         as given (id, passage, page, "start", "end", heading)`,
      [
        owner,
        batch.map(({ id }) => id),
        batch.map(({ passage }) => passage),
        batch.map(({ page }) => page),
        batch.map(({ start }) => start),
        batch.map(({ end }) => end),
        batch.map(({ heading }) => heading),
      ],
    )
  }
}

export async function removeIndex(scope: Scope, documentId: string): Promise<void> {
  for (const table of ['passages', 'document_index']) {
    await scope.query(`delete from ${table} where document_id = $1`, [documentId])
  }
}
