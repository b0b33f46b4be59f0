import type { Scope } from '#server/database/scope.ts'
import { type LibraryIndex, locatePassage } from './index/library-index.ts'

/** `start` and `end` are UTF-16 offsets in the page's text; `score` only ranks. */
export interface FoundPassage {
  readonly documentId: string
  readonly filename: string
  /** Missing in sources of old answers. */
  readonly mimetype?: string | undefined
  readonly page: number
  readonly start: number
  readonly end: number
  readonly text: string
  readonly score: number
  readonly heading?: string | null | undefined
}

export const isSamePassage = (one: FoundPassage, other: FoundPassage): boolean =>
  one.documentId === other.documentId && one.page === other.page && one.start === other.start

export interface StoredPassage {
  readonly number: number
  readonly language: string
  readonly found: Omit<FoundPassage, 'score'>
  readonly pageText: string
}

interface PassageRow {
  ordinal: number
  language: string
  document_id: string
  filename: string
  mimetype: string
  page: number
  start: number
  end: number
  heading: string | null
  /** Only in the first row of a page: a sheet may have megabytes. */
  page_text: string | null
}

const PLACED = `
  from unnest($1::bigint[], $2::int[]) with ordinality as wanted (segment, number, ordinal)
  cross join lateral (
    select i.document_id, wanted.number - i.first_passage as passage, i.language
    from document_index i
    where i.segment = wanted.segment and i.first_passage <= wanted.number
    order by i.first_passage desc limit 1
  ) as placed`

const READ = `
  select wanted.ordinal::int, placed.language, d.id as document_id, d.filename, d.mimetype, p.page, p."start", p."end",
    p.heading,
    case when row_number() over (partition by p.document_id, p.page order by wanted.ordinal) = 1 then t.text end as page_text
  ${PLACED}
  join passages p on p.document_id = placed.document_id and p.passage = placed.passage
  join documents d on d.id = placed.document_id
  join document_pages t on t.document_id = p.document_id and t.page = p.page
  order by wanted.ordinal`

/** The document of each passage. */
export async function readDocumentIds(
  scope: Scope,
  library: LibraryIndex,
  numbers: readonly number[],
): Promise<Map<number, string>> {
  const locations = numbers.map((number) => locatePassage(library, number))
  const { rows } = await scope.query<{ ordinal: number; document_id: string }>(
    `select wanted.ordinal::int, placed.document_id ${PLACED}`,
    [locations.map(({ segment }) => segment), locations.map(({ number }) => number)],
  )
  return new Map(rows.map(({ ordinal, document_id }) => [numbers[ordinal - 1] ?? 0, document_id]))
}

/** In the given order, without passages whose document is being deleted. */
export async function readPassages(
  scope: Scope,
  library: LibraryIndex,
  numbers: readonly number[],
): Promise<StoredPassage[]> {
  if (numbers.length === 0) return []
  const locations = numbers.map((number) => locatePassage(library, number))
  const { rows } = await scope.prepared<PassageRow>(READ, [
    locations.map(({ segment }) => segment),
    locations.map(({ number }) => number),
  ])
  const pages = new Map<string, string>()
  for (const { document_id, page, page_text } of rows)
    if (page_text !== null) pages.set(`${document_id} ${page}`, page_text)
  const read = rows.map((row) => ({ ...row, pageText: pages.get(`${row.document_id} ${row.page}`) ?? '' }))
  return read.map(({ pageText, ...row }) => ({
    number: numbers[row.ordinal - 1] ?? 0,
    language: row.language,
    pageText,
    found: {
      documentId: row.document_id,
      filename: row.filename,
      mimetype: row.mimetype,
      page: row.page,
      start: row.start,
      end: row.end,
      heading: row.heading,
      text: pageText.slice(row.start, row.end),
    },
  }))
}

/** Beginnings of documents, for questions about a whole document, whose words its passages need not hold. */
export async function readOpenings(
  scope: Scope,
  documentIds: readonly string[],
  limit: number,
): Promise<FoundPassage[]> {
  const { rows } = await scope.query<Omit<FoundPassage, 'score'> & { pageText: string }>(
    `select p.document_id as "documentId", d.filename, d.mimetype, p.page, p."start", p."end",
       t.text as "pageText"
     from passages p
     join documents d on d.id = p.document_id
     join document_pages t on t.document_id = p.document_id and t.page = p.page
     where p.document_id = any ($1)
     order by p.passage, d.filename limit $2`,
    [documentIds, limit],
  )
  return rows.map(({ pageText, ...found }) => ({ ...found, text: pageText.slice(found.start, found.end), score: 0 }))
}
