import { Hono } from 'hono'
import { z } from 'zod'
import type { ChangesSince } from '#contract/changes.ts'
import type { SignedIn } from '#server/access/authenticate.ts'
import { validate } from '#server/base/validate.ts'
import { getConversations, getMessages } from '#server/conversations/queries.ts'
import { type RecordedChange, readChangesSince } from '#server/database/recorded-changes.ts'
import type { Database, Scope } from '#server/database/scope.ts'
import { getDocuments } from '#server/documents/store/library.ts'

const TABLES = ['conversations', 'documents', 'models']
const changesQuery = z.object({ since: z.string().max(4000).optional(), conversation: z.uuid().optional() })

async function listSpaces(scope: Scope): Promise<ReadonlySet<string | null>> {
  const { rows } = await scope.query<{ id: string }>(`select unnest(spaces_to('read')) as id`)
  return new Set(rows.map(({ id }) => id))
}

/**
 * Changes that a page has missed between reading its lists and receiving live changes; a page without live changes asks
 * again and again.
 */
export function createChangeRoutes({ database }: { database: Database }) {
  const routes = new Hono<SignedIn>()

  routes.get('/changes', async (context) => {
    const { since, conversation } = validate(changesQuery, context.req.query())
    const claims = context.get('claims')
    const tables = conversation === undefined ? TABLES : [...TABLES, 'messages']
    const { moment, changes } = await database.asService((scope) => readChangesSince(scope, tables, since), {
      readOnly: true,
    })
    const idsOf = (table: string, isWanted: (change: RecordedChange) => boolean) => [
      ...new Set((changes ?? []).filter((change) => change.table === table && isWanted(change)).map(({ id }) => id)),
    ]
    const deleted = (changes ?? []).filter(({ isDeleted }) => isDeleted)
    const spaces = deleted.some(({ owner, space }) => owner !== claims.sub && space !== null)
      ? await database.asUser(claims, listSpaces, { readOnly: true })
      : new Set<string | null>()
    const isDeletedForPerson = ({ isDeleted, owner, space }: RecordedChange) =>
      isDeleted && (owner === claims.sub || spaces.has(space))
    const isWritten = ({ isDeleted }: RecordedChange) => !isDeleted
    const conversationIds = idsOf('conversations', isWritten)
    const documentIds = idsOf('documents', isWritten)
    const messageIds = idsOf('messages', isWritten)
    // The policies leave out the rows of other people.
    const readRows = async (scope: Scope) => ({
      conversations: await getConversations(scope, conversationIds),
      documents: await getDocuments(scope, documentIds),
      messages: conversation === undefined ? [] : await getMessages(scope, conversation, messageIds),
    })
    const isAnyWritten = conversationIds.length + documentIds.length + messageIds.length > 0
    const { messages, ...rows } = isAnyWritten
      ? await database.asUser(claims, readRows, { readOnly: true })
      : { conversations: [], documents: [], messages: [] }
    return context.json({
      moment,
      is_complete: changes !== null,
      ...rows,
      ...(conversation === undefined ? {} : { messages }),
      deleted_conversations: idsOf('conversations', isDeletedForPerson),
      deleted_documents: idsOf('documents', isDeletedForPerson),
      have_models_changed: idsOf('models', () => true).length > 0,
    } satisfies ChangesSince)
  })

  return routes
}
