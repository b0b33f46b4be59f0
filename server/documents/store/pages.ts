import { CELL_BORDER } from '#contract/cell-border.ts'
import {
  type ItemRun,
  type PageBlock,
  type PageGap,
  type PageText,
  type ReadingReport,
  SHEET_PART_ROWS,
  type SheetRow,
  type WordBox,
} from '#contract/document.ts'
import { AppError } from '#server/base/errors.ts'
import { LIST_BOUNDS, readJsonRows } from '#server/database/json-list.ts'
import type { Scope } from '#server/database/scope.ts'
import type { ParsedPage } from '#server/parsing/page.ts'
import type { RecognisedPage } from '#server/parsing/sandbox/run-parser.ts'
import type { PageToIndex } from '#server/search/index/document-terms.ts'
import { getDocument } from './library.ts'

/** A page has at most half a million characters. */
const READ_BATCH_PAGES = 50
/** More than any model reads. */
const MAX_READ_BYTES = 32 * 1024 * 1024

/** @throws AppError `not_found` */
export async function getPageText(scope: Scope, documentId: string, page: number): Promise<PageText> {
  const found = await readJsonRows<{
    page: number
    text: string
    items: ItemRun[] | null
    blocks: PageBlock[] | null
    rows: SheetRow[] | null
    columns: number[] | null
    boxes: WordBox[] | null
    confidence: number | null
  }>(
    scope,
    {
      text: `select page, text, items, blocks, rows, columns, boxes, confidence
        from document_pages where document_id = $1 and page = $2`,
      values: [documentId, page],
    },
    { ...LIST_BOUNDS, wayOut: 'Read the file itself.' },
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

/** A sheet of more rows is sent in parts. */
const MAX_WHOLE_ROWS = 2_000
/** A part reaches into the next one, so that the titles of a table and the numbers below them are in one part, */
const SHARED_ROWS = 500
/** and those around an offset hold a passage that begins there: one has 4,000 characters at most, and text around it. */
const PASSAGE_CHARACTERS = 6_000
const SAMPLED_ROWS = 1_000

/** Where a sheet is read: an offset in its text, or the index of a row from 0. */
export type PlaceInSheet = { readonly near: number } | { readonly row: number }

/** The page, or of a long sheet the rows around a place. @throws AppError `not_found` */
export async function getPageNear(
  scope: Scope,
  documentId: string,
  page: number,
  place: PlaceInSheet,
): Promise<PageText> {
  const { rows: found } = await scope.query<{
    text: string
    columns: number[]
    count: number
    begin: number
    last: SheetRow
  }>(
    `select text, columns, jsonb_array_length(rows) as count, (rows -> 0 ->> 0)::int as begin, rows -> -1 as last
     from document_pages
     where document_id = $1 and page = $2 and columns is not null and jsonb_array_length(rows) > $3`,
    [documentId, page, MAX_WHOLE_ROWS],
  )
  const [sheet] = found
  if (!sheet) return getPageText(scope, documentId, page)
  const { text, columns, count, begin, last } = sheet
  const [from, passageRows] =
    'row' in place
      ? [place.row, 0]
      : [
          countRows(text, begin, place.near) - 1,
          text.slice(place.near, place.near + PASSAGE_CHARACTERS).split('\n').length,
        ]
  const part = Math.floor(Math.min(Math.max(0, from), count - 1) / SHEET_PART_ROWS) * SHEET_PART_ROWS
  // With the row before, which tells whether rows are missing in between.
  const first = Math.max(0, part - 1)
  const end = Math.min(count, Math.max(part + SHEET_PART_ROWS + SHARED_ROWS, from + passageRows))
  const { rows: read } = await scope.query<{ rows: SheetRow[] }>(
    `select jsonb_path_query_array(rows, '$[$first to $last]', $3) as rows from document_pages where document_id = $1 and page = $2`,
    [documentId, page, { first, last: end - 1 }],
  )
  const rows = read[0]?.rows ?? []
  const [[start] = [], [lastStart] = []] = [rows[0], rows.at(-1)]
  if (start === undefined || lastStart === undefined) throw new AppError('not_found', 'There is no such page.')
  return {
    page,
    text: text.slice(start, endOfLine(text, lastStart)),
    rows,
    columns,
    part: {
      start,
      first,
      count,
      widths: measureColumns(text, begin),
      name: text.slice(0, endOfLine(text, 0)),
      last,
      end: text.slice(last[0]),
    },
  }
}

const endOfLine = (text: string, from: number): number => {
  const end = text.indexOf('\n', from)
  return end === -1 ? text.length : end
}

/** Characters of the longest cell of each column, in lines all over the text. */
function measureColumns(text: string, begin: number): number[] {
  const widths: number[] = []
  let start = begin
  for (let sample = 0; sample < SAMPLED_ROWS; sample += 1) {
    const cells = text.slice(start, endOfLine(text, start)).split(CELL_BORDER)
    for (const [column, { length }] of cells.entries()) widths[column] = Math.max(widths[column] ?? 0, length)
    start = endOfLine(text, begin + Math.floor(((text.length - begin) * sample) / SAMPLED_ROWS)) + 1
  }
  return widths
}

/** Rows that begin at this offset or before it: each is a line, and blank lines separate groups of them. */
function countRows(text: string, begin: number, offset: number): number {
  let count = 0
  for (let start = begin; start <= offset && start < text.length; count += 1) {
    start = endOfLine(text, start)
    while (text[start] === '\n') start += 1
  }
  return count
}

/** Pages that were read by OCR, are empty or were cut. @throws AppError `not_found` */
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

export interface PagesOfDocument {
  readonly id: string
  readonly pages: readonly ParsedPage[]
}

export async function insertPages(scope: Scope, owner: string, documents: readonly PagesOfDocument[]): Promise<void> {
  const pages = documents.flatMap((document) => document.pages.map((page) => ({ ...page, id: document.id })))
  if (pages.length === 0) return
  const json = (values: readonly unknown[] | undefined) => (values && values.length > 0 ? JSON.stringify(values) : null)
  await scope.query(
    `insert into document_pages
       (document_id, owner, page, text, items, headings, rows, columns, boxes, confidence, is_cut, blocks, gap)
     select id, $1, page, text, items::jsonb, headings::jsonb, rows::jsonb, columns::jsonb, boxes::jsonb, confidence,
       is_cut, blocks::jsonb, gap
     from unnest($2::uuid[], $3::int[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
         $10::smallint[], $11::boolean[], $12::text[], $13::text[])
       as given (id, page, text, items, headings, rows, columns, boxes, confidence, is_cut, blocks, gap)`,
    [
      owner,
      pages.map(({ id }) => id),
      pages.map(({ page }) => page),
      pages.map(({ text }) => text),
      pages.map(({ items }) => (items ? JSON.stringify(items) : null)),
      pages.map(({ headings }) => json(headings)),
      pages.map(({ rows }) => json(rows)),
      pages.map(({ columns }) => json(columns)),
      pages.map(({ boxes }) => json(boxes)),
      pages.map(({ confidence }) => confidence ?? null),
      pages.map(({ isCut }) => isCut ?? false),
      pages.map(({ blocks }) => (blocks ? JSON.stringify(blocks) : null)),
      pages.map(({ gap }) => gap ?? null),
    ],
  )
}

export async function* readPages(scope: Scope, documentId: string): AsyncGenerator<PageToIndex> {
  for (let last = 0; ;) {
    const { rows } = await scope.query<{ page: number; text: string; headings: PageToIndex['headings'] }>(
      'select page, text, headings from document_pages where document_id = $1 and page > $2 order by page limit $3',
      [documentId, last, READ_BATCH_PAGES],
    )
    yield* rows
    const next = rows.at(-1)?.page
    if (next === undefined || rows.length < READ_BATCH_PAGES) return
    last = next
  }
}

/** Deletes the pages of an interrupted attempt, except those of OCR, which took seconds each; returns these. */
export async function deleteUnrecognisedPages(scope: Scope, id: string): Promise<RecognisedPage[]> {
  await scope.query('delete from document_pages where document_id = $1 and confidence is null', [id])
  const { rows } = await scope.query<RecognisedPage>(
    `select page, text ~ '\\S' as "hasText" from document_pages where document_id = $1`,
    [id],
  )
  return rows
}

export async function deletePages(scope: Scope, id: string): Promise<void> {
  await scope.query('delete from document_pages where document_id = $1', [id])
}

export async function countCharacters(scope: Scope, documentIds: readonly string[]): Promise<number> {
  const { rows } = await scope.query<{ characters: number | null }>(
    'select sum(char_length(text)) as characters from document_pages where document_id = any ($1)',
    [documentIds],
  )
  return rows[0]?.characters ?? 0
}

export interface DocumentPage {
  readonly document_id: string
  readonly filename: string
  readonly mimetype: string
  readonly page: number
  readonly text: string
}

interface DocumentPages {
  readonly pages: readonly DocumentPage[]
  /** Number of pages with text, those that did not fit included. */
  readonly count: number
}

/** The pages with text, in order, as far as they fit. */
export async function readDocuments(scope: Scope, documentIds: readonly string[]): Promise<DocumentPages> {
  const { rows } = await scope.query<DocumentPage & { count: number }>(
    `select document_id, filename, mimetype, page, text, count from (
       select p.document_id, d.filename, d.mimetype, p.page, p.text, wanted.ordinal, count(*) over ()::int as count,
         sum(octet_length(p.text)) over (order by wanted.ordinal, p.page) - octet_length(p.text) as bytes_before
       from unnest($1::uuid[]) with ordinality as wanted (id, ordinal)
       join documents d on d.id = wanted.id
       join document_pages p on p.document_id = d.id
       where p.text ~ '\\S'
     ) pages
     where bytes_before < $2 order by ordinal, page`,
    [documentIds, MAX_READ_BYTES],
  )
  return { pages: rows, count: rows[0]?.count ?? 0 }
}

export interface PageEdges {
  readonly page: number
  readonly head: string
  readonly foot: string
}

export interface PageWithNeighbours {
  readonly document_id: string
  readonly page: number
  readonly text: string
  readonly blocks: unknown
  readonly near: readonly PageEdges[]
}

/** Pages with the edges of up to two pages before and after each. */
export async function readPagesWithNeighbours(
  scope: Scope,
  pages: readonly { readonly documentId: string; readonly page: number }[],
  edgeCharacters: number,
): Promise<PageWithNeighbours[]> {
  const { rows } = await scope.query<PageWithNeighbours & Record<string, unknown>>(
    `select document_id, page, text, blocks, near.pages as near
     from document_pages
     join (select distinct * from unnest($1::uuid[], $2::integer[]) as asked (document_id, page)) wanted using (document_id, page)
     cross join lateral (
       select coalesce(jsonb_agg(jsonb_build_object('page', n.page, 'head', left(n.text, $3), 'foot', right(n.text, $3))), '[]') as pages
       from document_pages n
       where n.document_id = wanted.document_id and n.page between wanted.page - 2 and wanted.page + 2 and n.page <> wanted.page
     ) near`,
    [pages.map(({ documentId }) => documentId), pages.map(({ page }) => page), edgeCharacters],
  )
  return rows
}
