/** What the product does where an account is closed: the rows go by themselves, bytes and jobs do not. */
import { type AccountClosing } from '#server/auth/service.ts'
import { discardBlobs } from '#server/documents/ingest/ingest-job.ts'
import { forgetJobs } from '#server/jobs/forget.ts'
import { type Foundation } from './foundation.ts'

export function closeInProduct({ database, blobs }: Pick<Foundation, 'database' | 'blobs'>): AccountClosing {
  return async function closing(userId) {
    const { documents, messages } = await database.asService(async (scope) => ({
      documents: await scope.query<{ id: string; size: number }>('select id, size from documents where owner = $1', [
        userId,
      ]),
      messages: await scope.query<{ total: number }>(
        'select count(*) as total from conversations c join messages m on m.conversation_id = c.id where c.uid = $1',
        [userId],
      ),
    }))
    return {
      counts: {
        messages: messages.rows[0]?.total ?? 0,
        document_bytes: documents.rows.reduce((bytes, { size }) => bytes + size, 0),
      },
      async finish() {
        await forgetJobs(
          database,
          documents.rows.map(({ id }) => id),
        )
        await discardBlobs(database, blobs)
      },
    }
  }
}
