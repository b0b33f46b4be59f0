import type { Scope } from '#server/database/scope.ts'

const NO_LIBRARY = '00000000-0000-0000-0000-000000000000'

export interface AskedQuestion {
  readonly conversationId: string
  readonly messageId: string
  /** The person who asked. */
  readonly owner: string
}

/**
 * Limits the rest of a transaction to the documents that may answer a question: those of the conversation's space, with
 * `ownDocuments` also the asker's own, and without a space the asker's own. A person who repeats the question of another adds
 * no documents to it. Runs as the person who is answered; if the conversation is out of reach, so is every document.
 */
export async function limitToLibraries(
  scope: Scope,
  { conversationId, messageId, owner }: AskedQuestion,
): Promise<void> {
  await scope.prepared(
    `select set_config('alcove.libraries', coalesce((
       select case
         when c.space_id is null then $3
         when q.metadata @> '{"ownDocuments": true}' and coalesce(q.author, c.uid)::text = $3 then c.space_id || ',' || $3
         else c.space_id::text
       end
       from conversations c join messages q on q.id = $2 and q.conversation_id = c.id where c.id = $1
     ), '${NO_LIBRARY}'), true)`,
    [conversationId, messageId, owner],
  )
}
