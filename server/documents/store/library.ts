/** Document rows of a person. Row-level security decides which rows a scope sees. */
import type { z } from 'zod'
import type { DocumentCounts, DocumentRow, knownDocuments } from '#contract/document.ts'
import { AppError } from '#server/base/errors.ts'
import { LIST_BOUNDS, type ListBounds, readJsonList, readJsonRows } from '#server/database/json-list.ts'
import { foldedToSql, lowerToSql } from '#server/database/lower-case.ts'
import type { Scope } from '#server/database/scope.ts'

/** Times to the microsecond: the page continues a list after them. */
const COLUMNS = `d.id, d.filename, d.folder, d.originalname, d.mimetype, d.size, d.state, d.pages, d.pages_done, d.error,
  d.readability, ${timeToSql('uploaded_at')}, d.space_id, d.series, d.version, ${timeToSql('superseded_at')}`

function timeToSql(column: string): string {
  return `to_char(d.${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as ${column}`
}

/** As `nameWithFolder` of the contract. @param alias of `documents` */
export const nameWithFolderToSql = (alias: string): string =>
  `case ${alias}.folder when '' then ${alias}.filename else ${alias}.folder || '/' || ${alias}.filename end`

const missing = () => new AppError('not_found', 'There is no such document.')

export interface DocumentListPage {
  /** The id of the last document of the page before. */
  readonly after?: string | undefined
  readonly limit?: number | undefined
  /** A part of the file name with its folder, ignoring case. */
  readonly search?: string | undefined
  readonly order?: 'date' | 'name' | undefined
  /** By default, dates are descending and names ascending. */
  readonly descending?: boolean | undefined
}

const SORT_COLUMNS = { date: 'd.uploaded_at', name: 'd.filename collate natural_names' }

/** @returns JSON text of the current versions, newest first @throws AppError `too_large`, `not_found` for an unknown `after` */
export async function listDocuments(
  scope: Scope,
  { after, limit, search = '', order = 'date', descending = order === 'date' }: DocumentListPage = {},
): Promise<string> {
  const column = SORT_COLUMNS[order]
  const values: unknown[] = [limit]
  const conditions = ['d.superseded_at is null']
  const place = (value: unknown): string => `$${values.push(value)}`
  if (search !== '') conditions.push(nameContains(place(search)))
  if (after !== undefined) {
    const last = place(await readSortValue(scope, column, after))
    const [beyond, cast] = [descending ? '<' : '>', order === 'date' ? '::timestamptz' : '']
    // The first comparison is a range of the index, which the disjunction is not.
    conditions.push(`${column} ${beyond}= ${last}${cast}`, `(${column} <> ${last}${cast} or d.id > ${place(after)})`)
  }
  const sorted = `order by ${column} ${descending ? 'desc' : 'asc'}, d.id`
  return readJsonList(
    scope,
    {
      // Sorted before the columns are rendered, which would otherwise happen for all rows.
      text: `select ${COLUMNS} from (select * from documents d where ${conditions.join(' and ')} ${sorted} limit $1) d
        ${sorted}`,
      values,
    },
    { ...LIST_BOUNDS, wayOut: 'Ask for a page: ?limit=100, then ?limit=100&after= with the id of its last document.' },
  )
}

const nameContains = (search: string): string =>
  `strpos(${lowerToSql(nameWithFolderToSql('d'))}, ${lowerToSql(`${search}::text`)}) > 0`

async function readSortValue(scope: Scope, column: string, id: string): Promise<string> {
  const { rows } = await scope.query<{ value: string }>(
    `select (${column})::text as value from documents d where id = $1`,
    [id],
  )
  if (!rows[0]) throw missing()
  return rows[0].value
}

/** @returns JSON text of all current versions with this part in their names, newest first @throws AppError `too_large` */
export const listNames = (scope: Scope, search: string): Promise<string> =>
  readJsonList(
    scope,
    {
      text: `select d.id, d.filename, d.folder, d.state from documents d
        where d.superseded_at is null and ($1 = '' or ${nameContains('$1')}) order by d.uploaded_at desc, d.id`,
      values: [search],
    },
    { ...LIST_BOUNDS, wayOut: 'Search for a longer part of the names.' },
  )

export async function countDocuments(scope: Scope): Promise<DocumentCounts> {
  const { rows } = await scope.query<Omit<DocumentCounts, 'queue'> & Record<string, unknown>>(
    `select count(*)::int as total, count(*) filter (where state = 'ready')::int as ready,
       count(*) filter (where state in ('queued', 'reading'))::int as being_read,
       count(*) filter (where state = 'paused')::int as paused
     from documents where superseded_at is null`,
  )
  const counts = rows[0] ?? { total: 0, ready: 0, being_read: 0, paused: 0 }
  return { ...counts, queue: counts.being_read + counts.paused === 0 ? 0 : await countQueue(scope) }
}

/** Pauses between the uploads of one folder, on a slow connection for example. */
const QUEUE_GAP_S = 60
/** An older queue is counted from here. */
const MAX_QUEUE_AGE_DAYS = 7

/** Documents uploaded since all were last read. A failed one, whose end is unknown, ends with its upload. */
async function countQueue(scope: Scope): Promise<number> {
  const { rows } = await scope.query<{ queue: number }>(
    `with waited as (
       select uploaded_at, max(case when state in ('ready', 'failed') then coalesce(parsed_at, uploaded_at) else 'infinity' end)
         over (order by uploaded_at rows between unbounded preceding and 1 preceding) as busy_until
       from documents
       where uploaded_at >= (select min(uploaded_at) - make_interval(days => $2) from documents
         where state in ('queued', 'reading', 'paused'))
     )
     select count(*)::int as queue from waited
     where uploaded_at >= (select max(uploaded_at) from waited
       where busy_until is null or busy_until < uploaded_at - make_interval(secs => $1))`,
    [QUEUE_GAP_S, MAX_QUEUE_AGE_DAYS],
  )
  return rows[0]?.queue ?? 0
}

/** Any versions, in no order; ids without a document are left out. */
export async function getDocuments(scope: Scope, ids: readonly string[]): Promise<DocumentRow[]> {
  const { rows } = await scope.query<DocumentRow & Record<string, unknown>>(
    `select ${COLUMNS} from documents d where id = any ($1::uuid[])`,
    [ids],
  )
  return rows
}

/** Every version, by series. @throws AppError `too_large` */
export const readEveryVersion = (
  scope: Scope,
  last: Pick<DocumentRow, 'series' | 'version'> | undefined,
  bounds: ListBounds,
): Promise<DocumentRow[]> =>
  readJsonRows(
    scope,
    {
      text: `select ${COLUMNS} from documents d
        where $1::uuid is null or d.series > $1 or (d.series = $1 and d.version < $2)
        order by d.series, d.version desc limit $3`,
      values: [last?.series, last?.version, bounds.maxRows],
    },
    { ...bounds, wayOut: 'Read fewer documents at once.' },
  )

/** @throws AppError `not_found`, also for another person's document */
export async function getDocument(scope: Scope, id: string): Promise<DocumentRow> {
  const { rows } = await scope.query<DocumentRow & Record<string, unknown>>(
    `select ${COLUMNS} from documents d where id = $1`,
    [id],
  )
  if (!rows[0]) throw missing()
  return rows[0]
}

/** @returns JSON text, newest first @throws AppError `not_found`, `too_large` */
export async function listVersions(scope: Scope, id: string): Promise<string> {
  const versions = await readJsonList(
    scope,
    {
      text: `select ${COLUMNS} from documents d
        where series = (select series from documents where id = $1) order by version desc`,
      values: [id],
    },
    { ...LIST_BOUNDS, wayOut: 'Delete older versions of this document.' },
  )
  if (versions === '[]') throw missing()
  return versions
}

/** Documents with these bytes. */
export async function findDocumentsBySha256(
  scope: Scope,
  hashes: readonly string[],
): Promise<z.infer<typeof knownDocuments>> {
  const { rows } = await scope.query<DocumentRow & { sha256: string }>(
    `select ${COLUMNS}, d.sha256 from documents d where sha256 = any ($1)`,
    [hashes],
  )
  return rows.map(({ sha256, ...document }) => ({ sha256, document }))
}

/** @throws AppError `not_found` */
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
export async function renameDocument(scope: Scope, id: string, filename: string): Promise<DocumentRow> {
  const { rows } = await scope.query<DocumentRow & Record<string, unknown>>(
    `update documents d set filename = $2 where id = $1 returning ${COLUMNS}`,
    [id, filename],
  )
  if (!rows[0]) throw missing()
  return rows[0]
}

/** Foreign keys delete pages and passages; a trigger notes the bytes to remove. @throws AppError `not_found` */
export async function deleteDocument(scope: Scope, id: string): Promise<void> {
  const { rowCount } = await scope.query('delete from documents where id = $1', [id])
  if (rowCount === 0) throw missing()
}

/** All that the person added until a moment, by default all, and that were neither read nor failed. */
export async function deleteUnread(scope: Scope, until = 'infinity'): Promise<void> {
  await scope.query(
    `delete from documents
     where owner = (select auth.uid()) and state in ('queued', 'reading', 'paused') and uploaded_at <= $1`,
    [until],
  )
}

/** Without complaint about ids that have no document. */
export async function deleteDocuments(scope: Scope, ids: readonly string[]): Promise<void> {
  await scope.query('delete from documents where id = any ($1::uuid[])', [ids])
}

export interface NewDocument {
  /** The person who adds it. */
  readonly owner: string
  /** By default null: into the owner's own library. */
  readonly spaceId?: string | null
  readonly name: string
  /** See `documentRow`; by default none. */
  readonly folder?: string
  readonly mimetype: string
  readonly size: number
  readonly path: string
  readonly sha256: string
  /** Makes the document the next version of this series, under its name and in its folder. */
  readonly series?: string
}

/** Undefined if the library already has the bytes. Runs as the service: people must not name the bytes of others. */
export async function insertDocument(
  scope: Scope,
  { owner, spaceId = null, name, folder = '', mimetype, size, path, sha256, series }: NewDocument,
): Promise<DocumentRow | undefined> {
  if (series !== undefined) await lockSeries(scope, [series])
  const { rows } = await scope.query<DocumentRow & Record<string, unknown>>(
    `insert into documents as d (owner, space_id, filename, folder, originalname, mimetype, size, path, sha256, series, version)
     select $1::uuid, $9::uuid, coalesce(max(filename), $2), coalesce(max(folder), $8), $2, $3, $4, $5, $6, $7::uuid,
       coalesce(max(version), 0) + 1
     from documents where series = $7::uuid and library = coalesce($9::uuid, $1::uuid)
     on conflict (library, sha256) do nothing returning ${COLUMNS}`,
    [owner, name, mimetype, size, path, sha256, series ?? null, folder, spaceId],
  )
  return rows[0]
}

/** As `insertDocument`, for new documents of one library; undefined for each whose bytes it already has. */
export async function insertDocuments(
  scope: Scope,
  { owner, spaceId = null }: Pick<NewDocument, 'owner' | 'spaceId'>,
  documents: readonly Omit<NewDocument, 'owner' | 'spaceId' | 'series'>[],
): Promise<(DocumentRow | undefined)[]> {
  // The times keep the order of the upload.
  const { rows } = await scope.query<DocumentRow & { path: string }>(
    `insert into documents as d (owner, space_id, filename, folder, originalname, mimetype, size, path, sha256, uploaded_at)
     select $1::uuid, $8::uuid, name, folder, name, mimetype, size, path, sha256, clock_timestamp()
     from unnest($2::text[], $3::text[], $4::int[], $5::text[], $6::text[], $7::text[])
       as given (name, mimetype, size, path, sha256, folder)
     on conflict (library, sha256) do nothing returning ${COLUMNS}, d.path`,
    [
      owner,
      documents.map(({ name }) => name),
      documents.map(({ mimetype }) => mimetype),
      documents.map(({ size }) => size),
      documents.map(({ path }) => path),
      documents.map(({ sha256 }) => sha256),
      documents.map(({ folder = '' }) => folder),
      spaceId,
    ],
  )
  const byPath = new Map(rows.map(({ path, ...row }) => [path, row]))
  return documents.map(({ path }) => byPath.get(path))
}

/** Serialises version numbers and the choice of the searched version. */
async function lockSeries(scope: Scope, series: readonly string[]): Promise<void> {
  // In one order, so that two transactions never wait for each other.
  await scope.query('select pg_advisory_xact_lock(hashtextextended(series, 0)) from unnest($1::text[]) as series', [
    series.toSorted(),
  ])
}

/** Marks all ready versions but the newest of each series as superseded; returns the ids that this call marked. */
export async function supersedeVersions(scope: Scope, series: readonly string[]): Promise<string[]> {
  await lockSeries(scope, series)
  const { rows } = await scope.query<{ id: string }>(
    `update documents d set superseded_at = now()
     where d.series = any ($1::uuid[]) and d.state = 'ready' and d.superseded_at is null
       and d.version < (select max(version) from documents newer where newer.series = d.series and newer.state = 'ready')
     returning d.id`,
    [series],
  )
  return rows.map((row) => row.id)
}

/** Replaces each id by its newest parsed version, without duplicates. Unknown ids stay. */
export async function newestVersions(scope: Scope, documentIds: readonly string[]): Promise<string[]> {
  const { rows } = await scope.query<{ id: string }>(
    `select distinct coalesce(
       (select newest.id from documents chosen join documents newest using (series)
        where chosen.id = given.id and newest.superseded_at is null
        order by newest.state = 'ready' desc, newest.version desc limit 1),
       given.id) as id
     from unnest($1::uuid[]) as given (id)`,
    [documentIds],
  )
  return rows.map(({ id }) => id)
}

export async function deleteReplacedObject(
  scope: Scope,
  { owner, objectName, replacement }: { owner: string; objectName: string; replacement: string },
): Promise<void> {
  await scope.query('delete from documents where owner = $1 and object_name = $2 and id <> $3', [
    owner,
    objectName,
    replacement,
  ])
}

export async function setObjectName(scope: Scope, id: string, objectName: string): Promise<void> {
  await scope.query('update documents set object_name = $2 where id = $1', [id, objectName])
}

/** Every version that goes with an account: of the own library, and of spaces without other members. As the service. */
export async function listFilesOf(scope: Scope, owner: string): Promise<{ id: string; size: number }[]> {
  const { rows } = await scope.query<{ id: string; size: number }>(
    `select id, size from documents d where library = $1 or exists (
       select from space_members m where m.space_id = d.space_id and m.user_id = $1
         and not exists (select from space_members o where o.space_id = m.space_id and o.user_id <> $1))`,
    [owner],
  )
  return rows
}

const MAX_NAMED = 200

/** Documents whose names occur in the text, the longest names first. */
export async function listNamedIn(scope: Scope, text: string): Promise<{ id: string; filename: string }[]> {
  const { rows } = await scope.query<{ id: string; filename: string }>(
    `select id, filename from documents where superseded_at is null and strpos(lower($1), lower(filename)) > 0
     order by char_length(filename) desc, id limit ${MAX_NAMED}`,
    [text],
  )
  return rows
}

const MAX_FOUND = 100
const MAX_WORDS = 8
const BEST_NAMES_FIRST = 'order by is_whole desc, is_beginning desc, begins_words desc, d.uploaded_at desc, d.id'

/**
 * Documents whose names or folders contain all words, in any order, ignoring case and accents. The name itself comes first,
 * then names that begin with it, then those with words that begin with the words; newest first.
 */
export async function findByName(scope: Scope, name: string): Promise<DocumentRow[]> {
  const words = name.split(/\s+/u).filter(Boolean).slice(0, MAX_WORDS)
  if (words.length === 0) return []
  const places = words.map((_, index) => `fold_text($${index + 2})`)
  const all = (isMet: (word: string) => string) => places.map((word) => `${isMet(word)} > 0`).join(' and ')
  const { rows } = await scope.query<DocumentRow & Record<string, unknown>>(
    // The ranks are columns, and not a place computed over all rows: the best ones are found without sorting the others.
    `select ${COLUMNS} from (
       select d.*, folded = fold_text($1) as is_whole, starts_with(folded, fold_text($1)) as is_beginning,
         (${all((word) => `strpos(' ' || folded, ' ' || ${word})`)}) as begins_words
       from documents d, lateral (select ${foldedToSql('d.filename')} as folded,
         case d.folder when '' then '' else ${foldedToSql('d.folder')} || '/' end as folded_folder offset 0) as f
       where d.superseded_at is null and ${all((word) => `strpos(folded_folder || folded, ${word})`)}
       ${BEST_NAMES_FIRST} limit ${MAX_FOUND}
     ) d ${BEST_NAMES_FIRST}`,
    [words.join(' '), ...words],
  )
  return rows
}

/** A name without its extension. */
const stemToSql = (name: string): string => `regexp_replace(${name}, '\\.[A-Za-z0-9]{1,5}$', '')`

export interface NameInText {
  readonly id: string
  readonly filename: string
  readonly stem: string
}

/** Ready documents whose names, without their extensions, are parts of the text, in words as well; the longest names first. */
export async function listReadyNamesIn(scope: Scope, text: string): Promise<NameInText[]> {
  const { rows } = await scope.query<NameInText & Record<string, unknown>>(
    `select id, filename, stem from documents, ${stemToSql('filename')} as stem
     where state = 'ready' and superseded_at is null and strpos(lower($1), lower(stem)) > 0
       and (char_length(stem) > 3 or strpos(lower($1), lower(filename)) > 0)
     order by char_length(stem) desc, uploaded_at desc, id limit ${MAX_NAMED}`,
    [text],
  )
  return rows
}

export interface NameMatch {
  readonly id: string
  /** Words that begin a word of the file name or its folder. */
  readonly words: number
  readonly count: number
}

/** The 20 ready documents whose names match best: by matching words, then newest. */
export async function matchNames(scope: Scope, words: readonly string[]): Promise<NameMatch[]> {
  const { rows } = await scope.query<NameMatch & Record<string, unknown>>(
    `select id,
       (select count(*)::int from unnest($1::text[]) as word where lower(folder || ' ' || stem) ~ ('\\m' || word)) as words,
       count(*) over () as count
     from documents, ${stemToSql('filename')} as stem
     where state = 'ready' and superseded_at is null
     order by words desc, uploaded_at desc limit 20`,
    [words],
  )
  return rows
}

export interface DocumentFile {
  readonly documentId: string
  readonly filename: string
  readonly path: string
  readonly size: number
  readonly mimetype: string
}

export async function listFiles(
  scope: Scope,
  documentIds: readonly string[],
  { mimetypes, limit }: { mimetypes: readonly string[]; limit: number },
): Promise<DocumentFile[]> {
  const { rows } = await scope.query<DocumentFile & Record<string, unknown>>(
    `select d.id as "documentId", d.filename, d.path, d.size, d.mimetype
     from unnest($1::uuid[]) with ordinality as wanted (id, ordinal)
     join documents d on d.id = wanted.id
     where d.mimetype = any ($2) order by wanted.ordinal limit $3`,
    [documentIds, mimetypes, limit],
  )
  return rows
}

export async function sumFileSizes(scope: Scope): Promise<number> {
  const { rows } = await scope.query<{ bytes: number }>(
    'select coalesce(sum(size::bigint), 0)::float8 as bytes from documents',
  )
  return rows[0]?.bytes ?? 0
}
