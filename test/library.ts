/** Adds parsed documents to a person's library. */
import { createHash, randomUUID } from 'node:crypto'
import type { Claims, Database } from '#server/database/scope.ts'
import { indexDocument } from '#server/search/index/index-document.ts'

interface UnreadDocument {
  readonly id: string
  /** The person or the space whose library holds it. */
  readonly owner: string
  readonly filename: string
}

/** Adds an uploaded document that no parser reads until `finishReading`. */
export async function addUnreadDocument(
  database: Database,
  person: Claims & { sub: string },
  filename: string,
  spaceId: string | null = null,
): Promise<UnreadDocument> {
  const document = { id: randomUUID(), owner: spaceId ?? person.sub, filename }
  await database.asService((scope) =>
    scope.query(
      `insert into documents (id, owner, space_id, filename, originalname, mimetype, size, path, sha256, state)
       values ($1, $2, $6, $3, $3, 'text/plain', 1, $4, $5, 'reading')`,
      [
        document.id,
        person.sub,
        filename,
        randomUUID(),
        createHash('sha256').update(document.id).digest('hex'),
        spaceId,
      ],
    ),
  )
  return document
}

/** @param pages text of each page, the first is page 1. */
export async function finishReading(
  database: Database,
  document: UnreadDocument,
  pages: readonly string[],
): Promise<void> {
  await database.asService(async (scope) => {
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
    await scope.query(
      `update documents set state = 'ready', pages = $2, pages_done = $2, size = $3, sha256 = $4 where id = $1`,
      [document.id, pages.length, pages.join('').length, createHash('sha256').update(pages.join('\f')).digest('hex')],
    )
  })
}

/** @param pages text of each page, the first is page 1. */
export async function addReadDocument(
  database: Database,
  person: Claims & { sub: string },
  filename: string,
  pages: readonly string[],
  spaceId: string | null = null,
): Promise<{ documentId: string }> {
  const document = await addUnreadDocument(database, person, filename, spaceId)
  await finishReading(database, document, pages)
  return { documentId: document.id }
}
