/** Puts documents that have been read already into a person's library, for tests of what comes after reading. */
import { createHash, randomUUID } from 'node:crypto'
import { type Claims, type Database } from '#server/database/scope.ts'
import { indexDocument } from '#server/documents/indexing.ts'

/** @param pages text of each page, the first is page 1. */
export async function addReadDocument(
  database: Database,
  person: Claims & { sub: string },
  filename: string,
  pages: readonly string[],
): Promise<{ documentId: string }> {
  const document = { id: randomUUID(), owner: person.sub, filename }
  await database.asService(async (scope) => {
    await scope.query(
      `insert into documents (id, owner, filename, originalname, mimetype, size, path, sha256, state, pages, pages_done)
       values ($1, $2, $3, $3, 'text/plain', $4, $5, $6, 'ready', $7, $7)`,
      [
        document.id,
        document.owner,
        filename,
        pages.join('').length,
        randomUUID(),
        createHash('sha256').update(pages.join('\f')).digest('hex'),
        pages.length,
      ],
    )
    for (const [index, text] of pages.entries()) {
      await scope.query('insert into document_pages (document_id, owner, page, text) values ($1, $2, $3, $4)', [
        document.id,
        document.owner,
        index + 1,
        text,
      ])
    }
    await indexDocument(
      scope,
      document,
      pages.map((text, index) => ({ page: index + 1, text, headings: null })),
    )
  })
  return { documentId: document.id }
}
