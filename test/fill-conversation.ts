/** Inserts a long conversation directly into the database of a running server. */
import { randomUUID } from 'node:crypto'
import path from 'node:path'
import pg from 'pg'
import type { MessageRow } from '#contract/message.ts'
import { loadSecretsFromFolder } from '#server/access/secrets.ts'

/** Connects as superuser to the server's embedded PostgreSQL. */
export async function connectToFolder(dataDir: string): Promise<pg.Client> {
  const { databasePassword } = await loadSecretsFromFolder(dataDir)
  const client = new pg.Client({
    host: path.join(dataDir, 'run'),
    user: 'postgres',
    password: databasePassword,
    database: 'alcove',
  })
  await client.connect()
  return client
}

export type FilledMessage = Pick<MessageRow, 'content' | 'sender_role'> &
  Partial<Pick<MessageRow, 'metadata' | 'created_at'>>

/**
 * Disables triggers, so that no notification is sent and no question is answered.
 * @param email owner, by default the test account.
 * @returns the conversation's id.
 */
export async function fillConversation(
  dataDir: string,
  { email = 'test@alcove.local', title, model = 'alcove-reader' }: { email?: string; title: string; model?: string },
  messages: readonly FilledMessage[],
): Promise<string> {
  const client = await connectToFolder(dataDir)
  const id = randomUUID()
  try {
    await client.query('set session_replication_role = replica')
    await client.query(
      `insert into conversations (id, uid, title, model_name)
       select $1, id, $3, $4 from auth.users where email = $2`,
      [id, email, title, model],
    )
    await client.query(
      `insert into messages (conversation_id, content, sender_role, metadata, created_at)
       select $1, content, sender_role, metadata, coalesce(created_at, now())
       from rows from (
         jsonb_to_recordset($2) as (content text, sender_role smallint, metadata jsonb, created_at timestamptz)
       ) with ordinality as given(content, sender_role, metadata, created_at, n)
       order by n`,
      [id, JSON.stringify(messages)],
    )
    await client.query('analyze messages')
  } finally {
    await client.end()
  }
  return id
}
