/** `/api/search`: what was said in a person's conversations; `/api/search/documents`: what stands in their documents. */
import { Hono } from 'hono'
import { z } from 'zod'
import { type FoundPassage, LONGEST_SEARCH } from '#contract/search.ts'
import { type SignedIn } from '#server/access/authenticate.ts'
import { validate } from '#server/base/validate.ts'
import { searchMessages } from '#server/conversations/search-messages.ts'
import { createSnippet } from '#server/conversations/snippet.ts'
import { type Claims, type Database } from '#server/database/scope.ts'
import { searchPassages } from '#server/search/search.ts'

const searchQuery = z.object({ q: z.string().max(LONGEST_SEARCH).default('') })

/** Passages that are looked at, and documents that are named: a long document may hold all of the best ones. */
const PASSAGES = 24
const DOCUMENTS = 6
/** Shorter words are marked only where nothing else is searched for: they stand in every line. */
const TELLING_LENGTH = 3

/** The best passage of each document that shows what is searched for. By words alone: no provider is asked as somebody types. */
async function findInDocuments(database: Database, claims: Claims, search: string): Promise<FoundPassage[]> {
  const words = search.split(/\s+/).filter(Boolean)
  const telling = words.filter((word) => word.length >= TELLING_LENGTH)
  if (words.length === 0) return []
  const passages = await database.asUser(claims, (scope) => searchPassages(scope, search, { limit: PASSAGES }), {
    readOnly: true,
  })
  const best = new Map<string, FoundPassage>()
  for (const { documentId, page, start, end, text } of passages) {
    if (best.has(documentId)) continue
    const snippet = createSnippet(text, telling.length > 0 ? telling : words)
    if (snippet.some(({ is_hit: isHit }) => isHit))
      best.set(documentId, { document_id: documentId, page, start, end, snippet })
  }
  return [...best.values()].slice(0, DOCUMENTS)
}

export function createSearchRoutes({ database }: { database: Database }) {
  const routes = new Hono<SignedIn>()

  routes.get('/search', async (context) => {
    const { q } = validate(searchQuery, context.req.query())
    return context.json({ messages: await searchMessages(database, context.get('claims'), q) })
  })

  routes.get('/search/documents', async (context) => {
    const { q } = validate(searchQuery, context.req.query())
    return context.json({ passages: await findInDocuments(database, context.get('claims'), q) })
  })

  return routes
}
