/** Subfolders are rows without an id. */
import { z } from 'zod'
import type { Scope } from '#server/database/scope.ts'

const MAX_ENTRIES = 1000

const limit = z
  .int()
  .min(1)
  .transform((value) => Math.min(value, MAX_ENTRIES))

export const listRequestSchema = z.object({
  prefix: z.string().default(''),
  limit: limit.default(100),
  offset: z.int().nonnegative().default(0),
  search: z.string().default(''),
  sortBy: z
    .object({
      column: z.enum(['name', 'updated_at', 'created_at', 'last_accessed_at']).default('name'),
      order: z
        .string()
        .toLowerCase()
        .pipe(z.enum(['asc', 'desc']))
        .default('asc'),
    })
    .prefault({}),
})
export type ListRequest = z.output<typeof listRequestSchema>

interface Entry {
  readonly id: string | null
  readonly updated_at: Date | null
  readonly created_at: Date | null
  readonly last_accessed_at: Date | null
  readonly metadata: unknown
}

export interface ListedEntry extends Entry {
  /** Relative to the prefix. */
  readonly name: string
}

/** A folder's key ends with a slash. */
interface KeyedEntry extends Entry {
  readonly [column: string]: unknown
  readonly key: string
}

interface Page {
  /** Any prefix of a key; an entry extends to the next slash. */
  readonly prefix: string
  readonly search: string
  readonly limit: number
  readonly offset: number
  readonly column: 'name' | 'updated_at' | 'created_at' | 'last_accessed_at'
  readonly order: 'asc' | 'desc'
}

/**
 * Walks the index on the name from entry to entry, so that a subfolder costs one step whatever its size. $1 bucket, $2
 * prefix, $3 maximum number of entries (null: all), $4 search prefix after $2.
 */
function walkSql(order: 'asc' | 'desc'): string {
  const columns = 'o.name, o.id, o.updated_at, o.created_at, o.last_accessed_at, o.metadata'
  // U+0001 sorts directly after the text itself, nothing sorts after U+10FFFF, and `0` follows the slash.
  const first = `o.name collate "C" >= $2 || chr(1)`
  const last = `o.name collate "C" < $2 || chr(1114111)`
  const folder = `left(w.name, length($2) + strpos(substr(w.name, length($2) + 1), '/'))`
  const next =
    order === 'asc'
      ? `o.name collate "C" >= case when w.is_folder then left(${folder}, -1) || '0' else w.name || chr(1) end and ${last}`
      : `o.name collate "C" < case when w.is_folder then ${folder} else w.name end and ${first}`
  const step = (condition: string) => `
    select ${columns} from storage.objects o where o.bucket_id = $1 and ${condition} order by o.name collate "C" ${order} limit 1`
  const isFolder = (name: string) => `strpos(substr(${name}, length($2) + 1), '/') > 0`
  return `
    with recursive walked as (
      select 1 as position, ${isFolder('f.name')} as is_folder, f.* from (${step(`${first} and ${last}`)}) f
      union all
      select w.position + 1, ${isFolder('n.name')}, n.* from walked w cross join lateral (${step(next)}) n
      where $3::int is null or w.position < $3
    ), entries as (
      select position, is_folder, case when is_folder then ${folder} else w.name end as key,
        case when not is_folder then id end as id,
        case when not is_folder then updated_at end as updated_at,
        case when not is_folder then created_at end as created_at,
        case when not is_folder then last_accessed_at end as last_accessed_at,
        case when not is_folder then metadata end as metadata
      from walked w
    )
    select key, id, updated_at, created_at, last_accessed_at, metadata from entries
    where starts_with(lower(substr(key, length($2) + 1)), lower($4))`
}

/** Folders precede objects unless the order is by name. */
async function walkEntries(
  scope: Scope,
  bucket: string,
  { prefix, search, limit, offset, column, order }: Page,
): Promise<KeyedEntry[]> {
  const isByName = column === 'name'
  const stopAfter = isByName && search === '' ? offset + limit : null
  const { rows } = await scope.query<KeyedEntry>(
    `${walkSql(isByName ? order : 'asc')}
     order by ${isByName ? '' : `is_folder desc, ${column} ${order}, `}position limit $5 offset $6`,
    [bucket, prefix, stopAfter, search, limit, offset],
  )
  return rows
}

export async function listEntries(
  scope: Scope,
  bucket: string,
  { prefix, limit, offset, search, sortBy }: ListRequest,
): Promise<ListedEntry[]> {
  const folder = prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`
  const entries = await walkEntries(scope, bucket, { prefix: folder, limit, offset, search, ...sortBy })
  return entries.map(({ key, ...entry }) => {
    const name = key.slice(folder.length)
    return { name: entry.id === null ? name.slice(0, -1) : name, ...entry }
  })
}

const cursor = z
  .string()
  .transform((text) => Number(Buffer.from(text, 'base64url').toString('utf8')))
  .pipe(z.int().positive())
export const pageRequestSchema = z.object({
  prefix: z.string().default(''),
  limit: limit.default(MAX_ENTRIES),
  cursor: cursor.optional(),
  with_delimiter: z.boolean().default(false),
  sortBy: listRequestSchema.shape.sortBy,
})

/** With a delimiter, folders are separate. */
export async function listPage(
  scope: Scope,
  bucket: string,
  { prefix, limit, cursor: offset = 0, with_delimiter: hasFolders, sortBy }: z.output<typeof pageRequestSchema>,
) {
  // One extra entry tells whether there is a next page.
  const page = { prefix, search: '', limit: limit + 1, offset, ...sortBy }
  const found = hasFolders ? await walkEntries(scope, bucket, page) : await listKeys(scope, bucket, page)
  const hasNext = found.length > limit
  const entries = found.slice(0, limit).map((entry) => ({ ...entry, name: entry.key }))
  return {
    hasNext,
    ...(hasNext ? { nextCursor: Buffer.from(String(offset + limit)).toString('base64url') } : {}),
    folders: entries.filter(({ id }) => id === null).map(({ key, name }) => ({ key: key.slice(0, -1), name })),
    objects: entries.filter(({ id }) => id !== null),
  }
}

async function listKeys(
  scope: Scope,
  bucket: string,
  { prefix, limit, offset, column, order }: Page,
): Promise<KeyedEntry[]> {
  const { rows } = await scope.query<KeyedEntry>(
    `select name as key, id, updated_at, created_at, last_accessed_at, metadata from storage.objects
     where bucket_id = $1 and name collate "C" >= $2 and name collate "C" < $2 || chr(1114111)
     order by ${column === 'name' ? '' : `${column} ${order}, `}name collate "C" ${order} limit $3 offset $4`,
    [bucket, prefix, limit, offset],
  )
  return rows
}
