/** Attempts, progress and results of parsing documents. Functions run as the service unless noted. */
import { z } from 'zod'
import {
  type DocumentError,
  type DocumentLanguage,
  documentLanguage,
  LANGUAGES_PREFERENCE,
  UNSURE_BELOW,
} from '#contract/document.ts'
import type { Scope } from '#server/database/scope.ts'
import type { DocumentToIndex } from '#server/search/index/index-document.ts'
import { nameWithFolderToSql } from './library.ts'

export interface ClaimedDocument {
  readonly id: string
  /** The person or the space whose library holds it. */
  readonly owner: string
  /** The person who added it, whose files alone share a parser process; the library, once that account is gone. */
  readonly addedBy: string
  /** With its folder. */
  readonly filename: string
  readonly mimetype: string
  readonly size: number
  readonly path: string
  readonly series: string
  readonly attempt: number
  readonly tries: number
  readonly is_parsed: boolean
}

const CLAIMED = `id, library as owner, coalesce(owner, library) as "addedBy", ${nameWithFolderToSql('documents')} as filename, mimetype, size, path, series, attempt, tries,
  parsed_at is not null as is_parsed`

/**
 * Begins an attempt, which makes older ones stale. Undefined if the document is deleted or already parsed, and if its
 * account is disabled: then it is paused.
 */
export async function claimDocument(scope: Scope, id: string): Promise<ClaimedDocument | undefined> {
  const { rows } = await scope.query<ClaimedDocument>(
    `with paused as (
       update documents set state = 'paused', tries = case state when 'reading' then tries - 1 else tries end
       where id = $1 and state in ('queued', 'reading') and is_disabled(library))
     update documents set state = 'reading', attempt = attempt + 1, tries = tries + 1
     where id = $1 and state in ('queued', 'reading') and not is_disabled(library)
     returning ${CLAIMED}`,
    [id],
  )
  return rows[0]
}

/**
 * Begins the first attempts of documents that wait for one; leaves out those that another transaction holds, and those
 * of disabled accounts.
 */
export async function claimNewDocuments(scope: Scope, ids: readonly string[]): Promise<ClaimedDocument[]> {
  const { rows } = await scope.query<ClaimedDocument & Record<string, unknown>>(
    `update documents set state = 'reading', attempt = 1, tries = 1
     where id in (
       select id from documents where id = any ($1::uuid[]) and state = 'queued' and attempt = 0
         and not is_disabled(library)
       order by id for update skip locked)
     returning ${CLAIMED}`,
    [ids],
  )
  return rows
}

/** Locks the rows for the rest of the transaction; returns the ids of the attempts that are not stale. */
export async function lockAttempts(scope: Scope, documents: readonly ClaimedDocument[]): Promise<Set<string>> {
  const { rows } = await scope.query<{ id: string }>(
    `select d.id from documents d join unnest($1::uuid[], $2::int[]) as given (id, attempt) using (id, attempt)
     where d.state = 'reading' order by d.id for update of d`,
    [documents.map(({ id }) => id), documents.map(({ attempt }) => attempt)],
  )
  return new Set(rows.map(({ id }) => id))
}

/** Locks the row for the rest of the transaction; false if the attempt is stale. */
export async function lockAttempt(scope: Scope, { id, attempt }: ClaimedDocument): Promise<boolean> {
  const { rowCount } = await scope.query(
    `select from documents where id = $1 and attempt = $2 and state = 'reading' for update`,
    [id, attempt],
  )
  return rowCount === 1
}

/** @param isLasting whether another attempt continues from here: then earlier failures no longer count */
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

const readabilityOf = (id: string, unsureBelow: string): string => `(
  select jsonb_build_object('pages', count(*),
    'by_ocr', count(confidence) filter (where text ~ '\\S'),
    'unsure', count(*) filter (where confidence < ${unsureBelow} and text ~ '\\S'),
    'without_text', count(*) filter (where text !~ '\\S'),
    'cut', count(*) filter (where is_cut))
  from document_pages where document_id = ${id})`

export async function markParsed(scope: Scope, id: string, pages: number): Promise<void> {
  await scope.query(
    `update documents set pages = $2, pages_done = $2, parsed_at = now(), readability = ${readabilityOf('$1', '$3')}
     where id = $1`,
    [id, pages, UNSURE_BELOW],
  )
}

/** Marks documents as parsed and ready whose pages and index are stored. */
export async function markAllReady(
  scope: Scope,
  documents: readonly { readonly id: string; readonly pages: number }[],
): Promise<void> {
  await scope.query(
    `update documents d set state = 'ready', error = null, tries = 0, pages = given.pages, pages_done = given.pages,
       parsed_at = now(), readability = ${readabilityOf('d.id', '$3')}
     from unnest($1::uuid[], $2::int[]) as given (id, pages) where d.id = given.id`,
    [documents.map(({ id }) => id), documents.map(({ pages }) => pages), UNSURE_BELOW],
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

/** Failed attempts in a row, including this one. */
export async function countTries(scope: Scope, { id, tries }: ClaimedDocument): Promise<number> {
  const { rows } = await scope.query<{ tries: number }>('select tries from documents where id = $1', [id])
  return rows[0]?.tries ?? tries
}

/** Ends an attempt that the server interrupted, without counting it as a failure. */
export const returnAttempt = (scope: Scope, document: ClaimedDocument): Promise<void> =>
  returnAttempts(scope, [document])

export async function returnAttempts(scope: Scope, documents: readonly ClaimedDocument[]): Promise<void> {
  await scope.query(
    `update documents d set state = 'queued', tries = tries - 1
     from unnest($1::uuid[], $2::int[]) as given (id, attempt)
     where d.id = given.id and d.attempt = given.attempt and d.state = 'reading'`,
    [documents.map(({ id }) => id), documents.map(({ attempt }) => attempt)],
  )
}

export interface UnfinishedDocument {
  readonly id: string
  readonly mimetype: string
  readonly size: number
  readonly attempt: number
  readonly ahead: number
}

/** `ahead` counts the unparsed documents of the same library that come first. */
export async function listUnfinished(scope: Scope): Promise<UnfinishedDocument[]> {
  const { rows } = await scope.query<UnfinishedDocument & Record<string, unknown>>(
    `select id, mimetype, size, attempt, (row_number() over (partition by library order by uploaded_at, id) - 1)::int as ahead
     from documents where state in ('queued', 'reading')`,
  )
  return rows
}

/** Documents that one person added to a library. */
export interface Queue {
  readonly library: string
  readonly addedBy: string
}

/** Running attempts become stale, and the pages that they stored remain. */
export async function pauseReading(scope: Scope, { library, addedBy }: Queue): Promise<void> {
  await scope.query(
    `update documents set state = 'paused', tries = case state when 'reading' then tries - 1 else tries end
     where library = $1 and owner = $2 and state in ('queued', 'reading')`,
    [library, addedBy],
  )
}

/** Returns the documents that wait for an attempt now, in the order of their upload. */
export async function resumeReading(
  scope: Scope,
  { library, addedBy }: Queue,
): Promise<Omit<UnfinishedDocument, 'ahead'>[]> {
  const { rows } = await scope.query<UnfinishedDocument & Record<string, unknown>>(
    `with resumed as (
       update documents set state = 'queued' where library = $1 and owner = $2 and state = 'paused'
       returning id, mimetype, size, attempt, uploaded_at
     )
     select id, mimetype, size, attempt from resumed order by uploaded_at, id`,
    [library, addedBy],
  )
  return rows
}

export async function listStale(scope: Scope, tokenizer: string): Promise<{ id: string }[]> {
  const { rows } = await scope.query<{ id: string }>(
    `select d.id from documents d left join document_index i on i.document_id = d.id
     where d.state = 'ready' and d.superseded_at is null and (i.document_id is null or i.tokenizer <> $1 or i.filename <> ${nameWithFolderToSql('d')})
     limit 1000`,
    [tokenizer],
  )
  return rows
}

/** Locks a document for the rest of the transaction; undefined if it is not searchable. */
export async function lockSearchable(scope: Scope, id: string): Promise<DocumentToIndex | undefined> {
  const { rows } = await scope.query<DocumentToIndex & Record<string, unknown>>(
    `select id, library as owner, ${nameWithFolderToSql('documents')} as filename from documents
     where id = $1 and state = 'ready' and superseded_at is null for update`,
    [id],
  )
  return rows[0]
}

export interface UnreadDocument {
  readonly id: string
  /** It may never be read. */
  readonly isPaused: boolean
}

/** Runs as the person. @param among null: all documents */
export async function listUnread(scope: Scope, among: readonly string[] | null): Promise<UnreadDocument[]> {
  const { rows } = await scope.query<UnreadDocument & Record<string, unknown>>(
    `select id, state = 'paused' as "isPaused" from documents
     where state in ('queued', 'reading', 'paused') and ($1::uuid[] is null or id = any ($1))`,
    [among],
  )
  return rows
}

/** Runs as the person. Names that occur within the text, which need not be whole words of it. */
export async function listUnreadNames(scope: Scope, text: string): Promise<{ id: string; filename: string }[]> {
  const { rows } = await scope.query<{ id: string; filename: string }>(
    `select id, filename from documents where state in ('queued', 'reading') and strpos(lower($1), lower(filename)) > 0`,
    [text],
  )
  return rows
}

export async function listDocumentLanguages(scope: Scope, owner: string): Promise<DocumentLanguage[]> {
  const { rows } = await scope.query<{ languages: unknown }>(
    'select preferences -> $2 as languages from user_settings where owner = $1',
    [owner, LANGUAGES_PREFERENCE],
  )
  return z.array(documentLanguage).catch([]).parse(rows[0]?.languages)
}
