import { Hono } from 'hono'
import { z } from 'zod'
import type { ChangesSince } from '#contract/changes.ts'
import type { SignedIn } from '#server/access/authenticate.ts'
import { validate } from '#server/base/validate.ts'
import { getConversations } from '#server/conversations/queries.ts'
import { type RecordedChange, readChangesSince } from '#server/database/recorded-changes.ts'
import type { Database } from '#server/database/scope.ts'
import { getDocuments } from '#server/documents/store/library.ts'

const TABLES = ['conversations', 'documents', 'models']
const changesQuery = z.object({ since: z.string().max(4000).optional() })

/** Changes that a page has missed between reading its lists and receiving live changes. */
export function createChangeRoutes({ database }: { database: Database }) {
  const routes = new Hono<SignedIn>()

  routes.get('/changes', async (context) => {
    const { since } = validate(changesQuery, context.req.query())
    const claims = context.get('claims')
    const { moment, changes } = await database.asService((scope) => readChangesSince(scope, TABLES, since), {
      readOnly: true,
    })
    const idsOf = (table: string, isWanted: (change: RecordedChange) => boolean) => [
      ...new Set((changes ?? []).filter((change) => change.table === table && isWanted(change)).map(({ id }) => id)),
    ]
    const isDeletedOfPerson = ({ isDeleted, owner }: RecordedChange) => isDeleted && owner === claims.sub
    const isWritten = ({ isDeleted }: RecordedChange) => !isDeleted
    const [conversationIds, documentIds] = [idsOf('conversations', isWritten), idsOf('documents', isWritten)]
    // The policies leave out the rows of other people.
    const [conversations, documents] =
      conversationIds.length + documentIds.length === 0
        ? [[], []]
        : await database.asUser(
            claims,
            async (scope) => [await getConversations(scope, conversationIds), await getDocuments(scope, documentIds)],
            { readOnly: true },
          )
    return context.json({
      moment,
      is_complete: changes !== null,
      conversations,
      documents,
      deleted_conversations: idsOf('conversations', isDeletedOfPerson),
      deleted_documents: idsOf('documents', isDeletedOfPerson),
      have_models_changed: idsOf('models', () => true).length > 0,
    } satisfies ChangesSince)
  })

  return routes
}
