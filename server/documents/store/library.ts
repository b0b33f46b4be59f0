/** Every statement about documents and their pages, once. Each takes the scope of whoever asks. */
import { z } from 'zod'
import {
  type DocumentError,
  type DocumentLanguage,
  documentLanguage,
  type DocumentRow,
  type ItemRun,
  LANGUAGES_PREFERENCE,
  type PageBlock,
  type PageGap,
  type PageText,
  type ReadingReport,
  type SheetRow,
  UNSURE_BELOW,
  type WordBox,
} from '#contract/document.ts'
import { AppError } from '#server/base/errors.ts'
import { type Scope } from '#server/database/scope.ts'
import { type RecognisedBefore } from '#server/parsing/sandbox/run-parser.ts'

interface StoredDocument extends Omit<DocumentRow, 'uploaded_at' | 'superseded_at'> {
  uploaded_at: Date
  superseded_at: Date | null
}

const COLUMNS = `id, filename, originalname, mimetype, size, state, pages, pages_done, error, readability, uploaded_at,
  series, version, superseded_at`

const toRow = ({ uploaded_at, superseded_at, ...rest }: StoredDocument): DocumentRow => ({
  ...rest,
  superseded_at: superseded_at?.toISOString() ?? null,
  uploaded_at: uploaded_at.toISOString(),
})

const missing = () => new AppError('not_found', 'There is no such document.')

/** Newest first, without the versions that were replaced. */
export async function listDocuments(scope: Scope): Promise<DocumentRow[]> {
  const { rows } = await scope.query<StoredDocument>(
    `select ${COLUMNS} from documents where superseded_at is null order by uploaded_at desc, id`,
  )
  return rows.map(toRow)
}

/** The newest version of each document and those that were replaced, each series together with its newest first. */
export async function listEveryVersion(scope: Scope): Promise<DocumentRow[]> {
  const { rows } = await scope.query<StoredDocument>(
    `select ${COLUMNS} from documents
     order by max(uploaded_at) over (partition by series) desc, series, version desc`,
  )
  return rows.map(toRow)
}

/** @throws AppError `not_found`, also where the document is somebody else's. */
export async function getDocument(scope: Scope, id: string): Promise<DocumentRow> {
  const { rows } = await scope.query<StoredDocument>(`select ${COLUMNS} from documents where id = $1`, [id])
  if (!rows[0]) throw missing()
  return toRow(rows[0])
}

/** All versions of a document, newest first. @throws AppError `not_found` */
export async function listVersions(scope: Scope, id: string): Promise<DocumentRow[]> {
  const { rows } = await scope.query<StoredDocument>(
    `select ${COLUMNS} from documents where series = (select series from documents where id = $1) order by version desc`,
    [id],
  )
  if (rows.length === 0) throw missing()
  return rows.map(toRow)
}

export async function findDocumentBySha256(scope: Scope, sha256: string): Promise<DocumentRow | undefined> {
  const { rows } = await scope.query<StoredDocument>(`select ${COLUMNS} from documents where sha256 = $1`, [sha256])
  return rows[0] && toRow(rows[0])
}

/** What is needed to serve the bytes. @throws AppError `not_found` */
export async function getDocumentFile(
  scope: Scope,
  id: string,
): Promise<{ filename: string; mimetype: string; path: string; sha256: string }> {
  const { rows } = await scope.query<{ filename: string; mimetype: string; path: string; sha256: string }>(
    'select filename, mimetype, path, sha256 from documents where id = $1',
    [id],
  )
  if (!rows[0]) throw missing()
  return rows[0]
}

/** @throws AppError `not_found` */
export async function getPageText(scope: Scope, documentId: string, page: number): Promise<PageText> {
  const { rows: found } = await scope.query<{
    page: number
    text: string
    items: ItemRun[] | null
    blocks: PageBlock[] | null
    rows: SheetRow[] | null
    columns: number[] | null
    boxes: WordBox[] | null
    confidence: number | null
  }>(
    'select page, text, items, blocks, rows, columns, boxes, confidence from document_pages where document_id = $1 and page = $2',
    [documentId, page],
  )
  if (!found[0]) throw new AppError('not_found', 'There is no such page.')
  const { text, items, blocks, rows, columns, boxes, confidence } = found[0]
  return {
    page,
    text,
    ...(items === null ? {} : { items }),
    ...(blocks === null ? {} : { blocks }),
    ...(rows === null ? {} : { rows }),
    ...(columns === null ? {} : { columns }),
    ...(boxes === null ? {} : { boxes }),
    ...(confidence === null ? {} : { confidence }),
  }
}

/** Which pages were read by OCR, hold no text or were cut. @throws AppError `not_found` */
export async function getReadingReport(scope: Scope, documentId: string): Promise<ReadingReport> {
  const { pages } = await getDocument(scope, documentId)
  const { rows } = await scope.query<{
    page: number
    confidence: number | null
    gap: PageGap | null
    has_text: boolean
    is_cut: boolean
  }>(
    `select page, confidence, gap, text ~ '\\S' as has_text, is_cut from document_pages
     where document_id = $1 and (confidence is not null or is_cut or text !~ '\\S') order by page`,
    [documentId],
  )
  return {
    pages: pages ?? 0,
    recognised: rows.flatMap(({ page, confidence, has_text }) =>
      has_text && confidence !== null ? [{ page, confidence }] : [],
    ),
    without_text: rows.flatMap(({ page, gap, has_text }) => (has_text ? [] : [{ page, why: gap }])),
    cut: rows.flatMap(({ page, is_cut }) => (is_cut ? [page] : [])),
  }
}

/** @throws AppError `not_found` */
export async function renameDocument(scope: Scope, id: string, filename: string): Promise<DocumentRow> {
  const { rows } = await scope.query<StoredDocument>(
    `update documents set filename = $2 where id = $1 returning ${COLUMNS}`,
    [id, filename],
  )
  if (!rows[0]) throw missing()
  return toRow(rows[0])
}

/** Pages, passages and postings go with the row; a trigger notes the bytes to remove. @throws AppError `not_found` */
export async function deleteDocument(scope: Scope, id: string): Promise<void> {
  const { rowCount } = await scope.query('delete from documents where id = $1', [id])
  if (rowCount === 0) throw missing()
}

export interface NewDocument {
  readonly owner: string
  readonly name: string
  readonly mimetype: string
  readonly size: number
  readonly path: string
  readonly sha256: string
  /** The series that it is the next version of; its name is that of the others. */
  readonly series?: string
}

/**
 * Adds a document, or answers undefined where the owner has the same bytes already. As the service: a person who could
 * insert rows could name the bytes of somebody else.
 */
export async function insertDocument(
  scope: Scope,
  { owner, name, mimetype, size, path, sha256, series }: NewDocument,
): Promise<DocumentRow | undefined> {
  if (series !== undefined) await lockSeries(scope, series)
  const { rows } = await scope.query<StoredDocument>(
    `insert into documents (owner, filename, originalname, mimetype, size, path, sha256, series, version)
     select $1, coalesce(max(filename), $2), $2, $3, $4, $5, $6, $7::uuid, coalesce(max(version), 0) + 1
     from documents where series = $7::uuid and owner = $1
     on conflict (owner, sha256) do nothing returning ${COLUMNS}`,
    [owner, name, mimetype, size, path, sha256, series ?? null],
  )
  return rows[0] && toRow(rows[0])
}

/** The languages that a person says the own documents are in; what else stands in the setting is ignored. */
export async function listLanguages(scope: Scope, owner: string): Promise<DocumentLanguage[]> {
  const { rows } = await scope.query<{ languages: unknown }>(
    'select preferences -> $2 as languages from user_settings where owner = $1',
    [owner, LANGUAGES_PREFERENCE],
  )
  return z.array(documentLanguage).catch([]).parse(rows[0]?.languages)
}

/** Versions of one document are numbered, and take each other's place, one after the other. */
async function lockSeries(scope: Scope, series: string): Promise<void> {
  await scope.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [series])
}

/**
 * Lets a version that has just become ready take the place of the older ones; where a newer one was quicker, it is itself
 * replaced at once. Answers which documents are not to be searched any more.
 */
export async function supersedeVersions(scope: Scope, series: string): Promise<string[]> {
  await lockSeries(scope, series)
  const { rows } = await scope.query<{ id: string }>(
    `update documents d set superseded_at = now()
     where d.series = $1 and d.state = 'ready' and d.superseded_at is null
       and d.version < (select max(version) from documents where series = $1 and state = 'ready')
     returning d.id`,
    [series],
  )
  return rows.map((row) => row.id)
}

/** A document that a worker has begun on. */
export interface ClaimedDocument {
  readonly id: string
  readonly owner: string
  readonly filename: string
  readonly mimetype: string
  readonly size: number
  readonly path: string
  readonly series: string
  readonly attempt: number
  readonly tries: number
  readonly is_parsed: boolean
}

/** Begins a new attempt, after which older ones write nothing. Undefined where there is nothing (more) to read. */
export async function claimDocument(scope: Scope, id: string): Promise<ClaimedDocument | undefined> {
  const { rows } = await scope.query<ClaimedDocument>(
    `update documents set state = 'reading', attempt = attempt + 1, tries = tries + 1
     where id = $1 and state in ('queued', 'reading')
     returning id, owner, filename, mimetype, size, path, series, attempt, tries, parsed_at is not null as is_parsed`,
    [id],
  )
  return rows[0]
}

/** Locks the row for the rest of the transaction if the attempt is still the newest; false where it is not. */
export async function holdAttempt(scope: Scope, { id, attempt }: ClaimedDocument): Promise<boolean> {
  const { rowCount } = await scope.query(
    `select from documents where id = $1 and attempt = $2 and state = 'reading' for update`,
    [id, attempt],
  )
  return rowCount === 1
}

/** @param isLasting whether another attempt would go on from here: then the failures before do not count any more. */
export async function setProgress(
  scope: Scope,
  id: string,
  { pages, pagesDone, isLasting }: { pages: number | null; pagesDone: number; isLasting: boolean },
): Promise<void> {
  await scope.query(
    'update documents set pages = $2, pages_done = $3, tries = case when $4 then 1 else tries end where id = $1',
    [id, pages, pagesDone, isLasting],
  )
}

/** Removes the pages of an attempt that was interrupted, but for those that took seconds each to be recognised. */
export async function keepRecognised(scope: Scope, id: string): Promise<RecognisedBefore[]> {
  await scope.query('delete from document_pages where document_id = $1 and confidence is null', [id])
  const { rows } = await scope.query<RecognisedBefore>(
    `select page, text ~ '\\S' as "hasText" from document_pages where document_id = $1`,
    [id],
  )
  return rows
}

export async function removePages(scope: Scope, id: string): Promise<void> {
  await scope.query('delete from document_pages where document_id = $1', [id])
}

export async function markParsed(scope: Scope, id: string, pages: number): Promise<void> {
  await scope.query(
    `update documents set pages = $2, pages_done = $2, parsed_at = now(), readability = (
       select jsonb_build_object('pages', count(*),
         'by_ocr', count(confidence) filter (where text ~ '\\S'),
         'unsure', count(*) filter (where confidence < $3 and text ~ '\\S'),
         'without_text', count(*) filter (where text !~ '\\S'),
         'cut', count(*) filter (where is_cut))
       from document_pages where document_id = $1)
     where id = $1`,
    [id, pages, UNSURE_BELOW],
  )
}

export async function markReady(scope: Scope, id: string): Promise<void> {
  await scope.query(`update documents set state = 'ready', error = null, tries = 0 where id = $1`, [id])
}

export async function markFailed(scope: Scope, id: string, error: DocumentError): Promise<void> {
  await scope.query(
    `update documents set state = 'failed', error = $2, pages_done = 0, parsed_at = null, readability = null where id = $1`,
    [id, JSON.stringify(error)],
  )
}

/** How many attempts have failed in a row, this one counted. */
export async function countTries(scope: Scope, { id, tries }: ClaimedDocument): Promise<number> {
  const { rows } = await scope.query<{ tries: number }>('select tries from documents where id = $1', [id])
  return rows[0]?.tries ?? tries
}

/** Gives an attempt back that was interrupted by us, so that it does not count against the file. */
export async function handBack(scope: Scope, { id, attempt }: ClaimedDocument): Promise<void> {
  await scope.query(
    `update documents set state = 'queued', tries = tries - 1 where id = $1 and attempt = $2 and state = 'reading'`,
    [id, attempt],
  )
}

/** Documents that wait to be read, and how many of the same owner wait before them. */
export async function listUnfinished(scope: Scope): Promise<{ id: string; ahead: number }[]> {
  const { rows } = await scope.query<{ id: string; ahead: number }>(
    `select id, (row_number() over (partition by owner order by uploaded_at, id) - 1)::int as ahead
     from documents where state in ('queued', 'reading')`,
  )
  return rows
}

/** Documents whose postings were made by another tokenizer or under another name. */
export async function listStale(scope: Scope, tokenizer: string): Promise<{ id: string }[]> {
  const { rows } = await scope.query<{ id: string }>(
    `select d.id from documents d left join document_index i on i.document_id = d.id
     where d.state = 'ready' and d.superseded_at is null and (i.document_id is null or i.tokenizer <> $1 or i.filename <> d.filename)
     limit 1000`,
    [tokenizer],
  )
  return rows
}
