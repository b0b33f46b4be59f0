import type { Scope } from '#server/database/scope.ts'

export interface DocumentOpening {
  readonly documentId: string
  readonly text: string
}

const MAX_DOCUMENTS = 300
const OPENING_CHARACTERS = 2_000

/**
 * The beginnings of documents with one of these stemming languages, and how many documents there are in all. Runs as the
 * person.
 */
export async function readOpeningsOfLanguages(
  scope: Scope,
  stemmers: readonly string[],
): Promise<{ openings: readonly DocumentOpening[]; documents: number }> {
  const { rows } = await scope.query<DocumentOpening & { documents: number }>(
    `with readable as (
       select document_id, language from document_index where owner = any ((select libraries_to('read'))::uuid[])
     )
     select i.document_id as "documentId", left(t.text, ${String(OPENING_CHARACTERS)}) as text,
       (select count(*)::int from readable) as documents
     from (select document_id from readable where language = any ($1) limit ${String(MAX_DOCUMENTS)}) i
     cross join lateral (
       select text from document_pages where document_id = i.document_id and text <> '' order by page limit 1
     ) t`,
    [stemmers],
  )
  return { openings: rows, documents: rows[0]?.documents ?? 0 }
}
