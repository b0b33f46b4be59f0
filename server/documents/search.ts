/** Finds the passages that best answer a question: the one way into a person's documents, for every model and tool. */
import { type Scope } from '#server/database/scope.ts'
import { termsOfQuestion } from './question.ts'

/** A passage as found. `start` and `end` are UTF-16 offsets in the page's text; `score` only ranks. */
export interface FoundPassage {
  readonly documentId: string
  readonly filename: string
  readonly page: number
  readonly start: number
  readonly end: number
  readonly text: string
  readonly score: number
}

export interface SearchOptions {
  /** Narrows the search to these documents. */
  readonly documentIds?: readonly string[]
  readonly limit?: number
}

interface FoundRow {
  document_id: string
  filename: string
  page: number
  start: number
  end: number
  page_text: string
  score: number
}

const RANKED = `
  select found.document_id, d.filename, p.page, p."start", p."end", t.text as page_text, found.score
  from search_passages($1, $2, $3, $4) as found
  join passages p using (document_id, passage)
  join documents d on d.id = found.document_id
  join document_pages t on t.document_id = found.document_id and t.page = p.page
  order by found.score desc, found.document_id, found.passage`

/** Best first. To be run as the person (`database.asUser`): the policies decide what there is to find. */
export async function searchPassages(
  scope: Scope,
  question: string,
  { documentIds, limit = 8 }: SearchOptions = {},
): Promise<FoundPassage[]> {
  const { terms, weights } = await termsOfQuestion(scope, question)
  if (terms.length === 0) return []
  const found = await scope.query<FoundRow>(RANKED, [terms, weights, documentIds ?? null, limit])
  return found.rows.map((row) => ({
    documentId: row.document_id,
    filename: row.filename,
    page: row.page,
    start: row.start,
    end: row.end,
    text: row.page_text.slice(row.start, row.end),
    score: row.score,
  }))
}
