import type { Scope } from '#server/database/scope.ts'
import { stemWords } from '#server/search/text/stemmer.ts'
import { TOKENIZER_VERSION } from '#server/search/text/tokenizer.ts'
import type { PageToIndex, Passage } from './document-terms.ts'
import type { PackedSegment } from './pack-segment.ts'
import { insertSegment } from './segments.ts'
import { inIndexThread, type RunIndexTask } from './worker-thread.ts'

export interface DocumentToIndex {
  readonly id: string
  readonly owner: string
  readonly filename: string
}

interface ComputedIndex {
  readonly language: string
  readonly passages: readonly Passage[]
  readonly segment: PackedSegment
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
  const { language, passages, segment } = await inIndexThread((run) => computeIndex(run, scope, document, pages))
  await removeIndex(scope, document.id)
  await insertPassages(scope, document, passages)
  const length = passages.reduce((sum, passage) => sum + passage.length, 0)
  const totals = { length, languages: [language] }
  const number = passages.length === 0 ? null : await insertSegment(scope, document.owner, segment, totals)
  await scope.query(
    `insert into document_index (document_id, owner, tokenizer, language, filename, passages, length, segment, first_passage)
     values ($1, $2, $3, $4, $5, $6, $7, $8, 0)`,
    [document.id, document.owner, TOKENIZER_VERSION, language, document.filename, passages.length, length, number],
  )
}

async function computeIndex(
  run: RunIndexTask,
  scope: Scope,
  { filename }: DocumentToIndex,
  pages: AsyncIterable<PageToIndex> | Iterable<PageToIndex>,
): Promise<ComputedIndex> {
  for await (const batch of inBatches(pages)) {
    if ((await run('addPages', batch)) > MAX_PASSAGES) throw new TooManyPassagesError()
  }
  const { words, language } = await run('listWords', filename)
  for (let from = 0; from < words.length; from += BATCH_WORDS)
    await run('addTerms', await stemWords(scope, words.slice(from, from + BATCH_WORDS), [language]))
  return { language, ...(await run('packDocument', filename)) }
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

async function insertPassages(
  scope: Scope,
  { id, owner }: DocumentToIndex,
  passages: readonly Passage[],
): Promise<void> {
  for (let from = 0; from < passages.length; from += BATCH_ROWS) {
    const batch = passages.slice(from, from + BATCH_ROWS)
    await scope.query(
      `insert into passages (document_id, owner, passage, page, "start", "end", heading)
       select $1, $2, $3 + ordinality - 1, page, "start", "end", heading
       from unnest($4::int[], $5::int[], $6::int[], $7::text[]) with ordinality as given (page, "start", "end", heading, ordinality)`,
      [
        id,
        owner,
        from,
        batch.map(({ page }) => page),
        batch.map(({ start }) => start),
        batch.map(({ end }) => end),
        batch.map(({ heading }) => heading ?? null),
      ],
    )
  }
}

export async function removeIndex(scope: Scope, documentId: string): Promise<void> {
  for (const table of ['passages', 'document_index']) {
    await scope.query(`delete from ${table} where document_id = $1`, [documentId])
  }
}
