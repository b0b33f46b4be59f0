/** Facts about a person's current documents, for questions about the library. Row-level security decides which rows a scope sees. */
import type { DocumentError, DocumentRow } from '#contract/document.ts'
import type { Scope } from '#server/database/scope.ts'

/** Documents of one type. */
export interface TypeCounts {
  readonly mimetype: string
  readonly documents: number
  readonly ready: number
  readonly failed: number
  readonly pages: number
  readonly bytes: number
}

export interface FactsFilter {
  readonly mimetypes?: readonly string[] | undefined
  readonly states?: readonly DocumentRow['state'][] | undefined
  readonly ids?: readonly string[] | undefined
  readonly addedFrom?: Date | undefined
  /** Excluded. */
  readonly addedTo?: Date | undefined
  readonly isRecognised?: boolean | undefined
}

const MATCHES = `superseded_at is null and ($1::text[] is null or mimetype = any ($1))
  and ($2::text[] is null or state = any ($2)) and ($3::uuid[] is null or id = any ($3))
  and ($4::timestamptz is null or uploaded_at >= $4) and ($5::timestamptz is null or uploaded_at < $5)
  and (not $6 or (readability ->> 'by_ocr')::int > 0)`

const matchValues = ({ mimetypes, states, ids, addedFrom, addedTo, isRecognised = false }: FactsFilter) => [
  mimetypes,
  states,
  ids,
  addedFrom,
  addedTo,
  isRecognised,
]

/** Counts the documents that match, all current ones without a filter. */
export async function countByType(scope: Scope, filter: FactsFilter = {}): Promise<TypeCounts[]> {
  const { rows } = await scope.query<TypeCounts & Record<string, unknown>>(
    `select mimetype, count(*)::int as documents, count(*) filter (where state = 'ready')::int as ready,
       count(*) filter (where state = 'failed')::int as failed,
       coalesce(sum(pages) filter (where state = 'ready'), 0)::int as pages, sum(size::bigint)::float8 as bytes
     from documents where ${MATCHES} group by mimetype order by documents desc, mimetype`,
    matchValues(filter),
  )
  return rows
}

export interface DocumentFacts {
  readonly id: string
  readonly filename: string
  readonly folder: string
  readonly mimetype: string
  readonly size: number
  readonly state: DocumentRow['state']
  readonly pages: number | null
  readonly error: DocumentError | null
  readonly uploadedAt: Date
}

const ORDERS = {
  newest: 'uploaded_at desc, id',
  oldest: 'uploaded_at, id',
  largest: 'size desc, id',
  smallest: 'size, id',
  longest: 'pages desc nulls last, id',
  shortest: 'pages nulls last, id',
  name: 'filename collate natural_names, id',
} as const
export type FactsOrder = keyof typeof ORDERS

/** @returns the first of the matching documents, and how many there are */
export async function listFacts(
  scope: Scope,
  filter: FactsFilter,
  { order, limit }: { readonly order: FactsOrder; readonly limit: number },
): Promise<{ documents: DocumentFacts[]; count: number }> {
  const { rows } = await scope.query<DocumentFacts & { count: number }>(
    `select id, filename, folder, mimetype, size, state, pages, error, uploaded_at as "uploadedAt",
       count(*) over ()::int as count
     from documents where ${MATCHES}
     order by ${ORDERS[order]} limit $7`,
    [...matchValues(filter), limit],
  )
  return { documents: rows.map(({ count: _, ...facts }) => facts), count: rows[0]?.count ?? 0 }
}

const SAMPLE_PAGES = 7
const SAMPLE_CHARACTERS_OF_PAGE = 400

/** Middles of pages at even distances of each of the newest ready documents: a text may begin with a preface in another language. */
export async function sampleTexts(scope: Scope, limit: number): Promise<{ id: string; text: string }[]> {
  const { rows } = await scope.query<{ id: string; text: string }>(
    `select d.id, coalesce(sample.text, '') as text
     from (select id, uploaded_at, pages from documents where superseded_at is null and state = 'ready'
       order by uploaded_at desc, id limit $1) d
     cross join lateral (
       select string_agg(
         substr(p.text, greatest(1, (length(p.text) - ${SAMPLE_CHARACTERS_OF_PAGE}) / 2), ${SAMPLE_CHARACTERS_OF_PAGE}),
         E'\\n' order by p.page) as text
       from document_pages p
       where p.document_id = d.id and p.page in (
         select 1 + (greatest(1, coalesce(d.pages, 1)) - 1) * nth / ${SAMPLE_PAGES - 1}
         from generate_series(0, ${SAMPLE_PAGES - 1}) nth
       )
     ) sample`,
    [limit],
  )
  return rows
}
