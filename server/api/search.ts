import { Hono } from 'hono'
import { z } from 'zod'
import { type FoundPassage, MAX_SEARCH_LENGTH } from '#contract/search.ts'
import { type ChosenSpace, chosenSpace } from '#contract/space.ts'
import type { SignedIn } from '#server/access/authenticate.ts'
import { validate } from '#server/base/validate.ts'
import { searchTitles } from '#server/conversations/queries.ts'
import { searchMessages } from '#server/conversations/search-messages.ts'
import { createSnippet } from '#server/conversations/snippet.ts'
import type { Claims, Database } from '#server/database/scope.ts'
import { searchPassages } from '#server/search/search.ts'
import { inChosenSpace } from './chosen-space.ts'

const searchQuery = z.object({ q: z.string().max(MAX_SEARCH_LENGTH).default(''), space: chosenSpace.optional() })

const MAX_CONVERSATIONS = 50
const MAX_TITLE_WORDS = 8
/** More passages than documents, because one long document may contain all of the best. */
const MAX_PASSAGES = 24
const MAX_DOCUMENTS = 6
/** Shorter words occur in every line, so they are marked only if the search has no longer ones. */
const MIN_MARKED_LENGTH = 3

/** Returns the best passage of each document. Searches words only: no provider is called while a person types. */
async function findInDocuments(
  database: Database,
  claims: Claims & { readonly sub: string },
  search: string,
  space: ChosenSpace | undefined,
): Promise<FoundPassage[]> {
  const words = search.split(/\s+/).filter(Boolean)
  const markable = words.filter((word) => word.length >= MIN_MARKED_LENGTH)
  if (words.length === 0) return []
  const passages = await database.asUser(claims, (scope) => searchPassages(scope, search, { limit: MAX_PASSAGES }), {
    readOnly: true,
    settings: inChosenSpace(claims, space),
  })
  const bestByDocument = new Map<string, FoundPassage>()
  for (const { documentId, page, start, end, text } of passages) {
    if (bestByDocument.has(documentId)) continue
    const snippet = createSnippet(text, markable.length > 0 ? markable : words)
    if (snippet.some(({ is_hit: isHit }) => isHit))
      bestByDocument.set(documentId, { document_id: documentId, page, start, end, snippet })
  }
  return [...bestByDocument.values()].slice(0, MAX_DOCUMENTS)
}

export function createSearchRoutes({ database }: { database: Database }) {
  const routes = new Hono<SignedIn>()

  routes.get('/search', async (context) => {
    const { q, space } = validate(searchQuery, context.req.query())
    return context.json({ messages: await searchMessages(database, context.get('claims'), q, space) })
  })

  routes.get('/search/conversations', async (context) => {
    const { q, space } = validate(searchQuery, context.req.query())
    const words = q.replaceAll('\u0000', ' ').split(/\s+/).filter(Boolean).slice(0, MAX_TITLE_WORDS)
    const conversations = await database.asUser(
      context.get('claims'),
      (scope) => searchTitles(scope, words, { limit: MAX_CONVERSATIONS, space }),
      { readOnly: true },
    )
    return context.json({ conversations })
  })

  routes.get('/search/documents', async (context) => {
    const { q, space } = validate(searchQuery, context.req.query())
    return context.json({ passages: await findInDocuments(database, context.get('claims'), q, space) })
  })

  return routes
}
