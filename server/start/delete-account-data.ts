/** Deletes bytes and jobs of a closed account. The database deletes the rows. */
import type { DeleteAccountData } from '#server/auth/service.ts'
import { removeDiscardedBlobs } from '#server/documents/ingest/blob-cleanup.ts'
import { listFilesOf } from '#server/documents/store/library.ts'
import { deleteJobs } from '#server/jobs/forget.ts'
import type { Foundation } from './foundation.ts'

export function createAccountDataDeletion({
  database,
  blobs,
}: Pick<Foundation, 'database' | 'blobs'>): DeleteAccountData {
  return async function closing(userId) {
    const { documents, messages } = await database.asService(async (scope) => ({
      documents: await listFilesOf(scope, userId),
      messages: await scope.query<{ total: number }>(
        'select count(*) as total from conversations c join messages m on m.conversation_id = c.id where c.uid = $1 and not c.is_shared',
        [userId],
      ),
    }))
    return {
      counts: {
        messages: messages.rows[0]?.total ?? 0,
        document_bytes: documents.reduce((bytes, { size }) => bytes + size, 0),
      },
      async finish() {
        await deleteJobs(
          database,
          documents.map(({ id }) => id),
        )
        await removeDiscardedBlobs(database, blobs)
      },
    }
  }
}
