/** `@knowledge`: searches the person's documents, or only those that the command names first. */
import { type Scope } from '#server/database/scope.ts'
import { type FoundPassage, searchPassages } from '#server/documents/search.ts'
import { type ToolRun } from './outcome.ts'

interface Named {
  /** Empty where no document is named. */
  readonly documentIds: readonly string[]
  readonly question: string
}

/** The documents whose file name the argument begins with, in whatever case; the longest name decides. */
async function splitFilename(scope: Scope, argument: string): Promise<Named> {
  const unquoted = argument.replace(/^["'“„]/, '')
  const { rows } = await scope.query<{ id: string; length: number }>(
    `select id, char_length(filename) as length from documents
     where lower(left($1, char_length(filename))) = lower(filename)
     order by length desc`,
    [unquoted],
  )
  const fitting = rows.filter(({ length }) =>
    /^(?:["'”“]|\s|[,:;?!]|$)/u.test(Array.from(unquoted).slice(length).join('')),
  )
  const [longest] = fitting
  if (!longest) return { documentIds: [], question: argument }
  return {
    documentIds: fitting.filter(({ length }) => length === longest.length).map(({ id }) => id),
    question: Array.from(unquoted).slice(longest.length).join('').replace(/^["'”“,:;\s]+/u, ''),
  } // prettier-ignore
}

/** How a document begins, for questions about it as a whole, whose words its passages need not hold. */
async function openingPassages(scope: Scope, documentIds: readonly string[], limit: number): Promise<FoundPassage[]> {
  const { rows } = await scope.query<Omit<FoundPassage, 'score'> & { pageText: string }>(
    `select p.document_id as "documentId", d.filename, p.page, p."start", p."end", t.text as "pageText"
     from passages p
     join documents d on d.id = p.document_id
     join document_pages t on t.document_id = p.document_id and t.page = p.page
     where p.document_id = any ($1)
     order by p.passage, d.filename limit $2`,
    [documentIds, limit],
  )
  return rows.map(({ pageText, ...found }) => ({ ...found, text: pageText.slice(found.start, found.end), score: 0 }))
}

export const isSamePassage = (one: FoundPassage, other: FoundPassage) =>
  one.documentId === other.documentId && one.page === other.page && one.start === other.start

const describe = ({ filename, page, text }: FoundPassage) =>
  `${filename} p.${page}: ${text.replace(/\s+/g, ' ').trim()}`

/**
 * Run as the person: the policies decide what there is to find and which names are known.
 * @param before what stands before the command, which is the question where nothing follows.
 */
export async function searchKnowledge(
  scope: Scope,
  { argument, before }: { argument: string; before: string },
  limit: number,
): Promise<{ asked: string; passages: FoundPassage[]; run: ToolRun }> {
  const startedAt = performance.now()
  const { documentIds, question } = await splitFilename(scope, argument)
  const asked = question || before
  const passages = await searchPassages(scope, asked, { limit, ...(documentIds.length > 0 ? { documentIds } : {}) })
  if (documentIds.length > 0 && passages.length < limit) {
    for (const opening of await openingPassages(scope, documentIds, limit)) {
      if (passages.length < limit && !passages.some((passage) => isSamePassage(passage, opening)))
        passages.push(opening)
    }
  }
  const content = passages.map(describe).join('\n\n') || 'Nothing in the documents fits.'
  return {
    asked,
    passages,
    run: { name: 'knowledge', status: 'done', durationMs: Math.round(performance.now() - startedAt), content },
  }
}
