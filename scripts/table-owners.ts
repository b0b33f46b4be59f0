/** Which folder of `server/` owns each table. `scripts/table-access.ts` checks it against the SQL. */

export interface TableOwner {
  /** The folder that writes the table; null: people write it through `/rest/v1`, or triggers do. */
  readonly writes: string | null
  /** Further folders that read it. */
  readonly reads?: readonly string[]
}

export interface SecondWriter {
  readonly table: string
  readonly folder: string
  readonly reason: string
}

export const TABLE_OWNERS: Readonly<Record<string, TableOwner>> = {
  'alcove.wrapped_secrets': { writes: 'access' },

  'auth.earlier_links': { writes: 'auth' },
  'auth.flow_state': { writes: 'auth' },
  'auth.identities': { writes: 'auth' },
  'auth.local_mails': { writes: 'auth' },
  'auth.mfa_challenges': { writes: 'auth' },
  'auth.mfa_factors': { writes: 'auth', reads: ['access'] },
  'auth.oauth_sign_ins': { writes: 'auth' },
  'auth.one_time_tokens': { writes: 'auth' },
  'auth.rate_limits': { writes: 'access' },
  'auth.recovery_codes': { writes: 'auth' },
  'auth.refresh_tokens': { writes: 'auth' },
  'auth.saml_assertions': { writes: 'auth' },
  'auth.saml_sign_ins': { writes: 'auth' },
  'auth.sessions': { writes: 'auth', reads: ['access'] },
  'auth.signup_claims': { writes: 'auth' },
  'auth.test_accounts': { writes: 'auth' },
  'auth.users': { writes: 'auth', reads: ['access'] },

  'realtime.changes': { writes: 'realtime', reads: ['database'] },
  'realtime.messages': { writes: 'realtime' },
  'realtime.nodes': { writes: 'realtime' },
  'realtime.presences': { writes: 'realtime' },
  'realtime.schema_changes': { writes: 'realtime' },

  'storage.buckets': { writes: 'storage' },
  'storage.discarded_blobs': { writes: 'storage' },
  'storage.objects': { writes: 'storage' },

  conversation_reads: { writes: 'spaces' },
  conversation_summaries: { writes: 'conversations' },
  conversations: { writes: 'conversations', reads: ['api', 'assistant', 'start'] },
  latest_answers: { writes: null },
  message_feedback: { writes: null, reads: ['api'] },
  message_texts: { writes: null, reads: ['assistant', 'conversations'] },
  message_versions: { writes: 'assistant', reads: ['conversations'] },
  messages: { writes: 'conversations', reads: ['api', 'start'] },
  replies: { writes: 'assistant', reads: ['operation'] },
  reply_parts: { writes: 'assistant' },
  user_settings: { writes: null, reads: ['api', 'documents/store'] },

  share_links: { writes: 'spaces' },
  space_events: { writes: 'spaces' },
  space_invitations: { writes: 'spaces' },
  space_members: { writes: null, reads: ['connections', 'documents/store'] },
  space_providers: { writes: 'connections' },
  spaces: { writes: null, reads: ['assistant', 'connections', 'documents/store', 'spaces'] },

  operator_links: { writes: 'operation' },
  operator_settings: { writes: 'operation' },
  operators: { writes: 'operation' },

  daily_usage: { writes: null },
  quotas: { writes: 'database' },
  usage: { writes: null },
  usage_changes: { writes: null },
  usage_events: { writes: 'assistant' },
  usage_total: { writes: null },
  vector_usage: { writes: 'search' },

  discarded_blobs: { writes: 'documents/store' },
  document_pages: { writes: 'documents/store', reads: ['search'] },
  documents: { writes: 'documents/store', reads: ['assistant', 'operation', 'search'] },

  document_index: { writes: 'search', reads: ['documents/store'] },
  embedded_documents: { writes: 'search' },
  embeddings_failures: { writes: 'search' },
  passage_vectors: { writes: 'search' },
  passages: { writes: 'search' },
  search_buckets: { writes: 'search' },
  search_segments: { writes: 'search', reads: ['assistant'] },

  embeddings_consents: { writes: 'connections', reads: ['search'] },
  models: { writes: 'connections', reads: ['api', 'assistant', 'conversations'] },
  own_providers: { writes: 'connections', reads: ['assistant', 'search'] },
  tool_consents: { writes: 'connections' },
  tool_requests: { writes: 'connections' },
  tool_servers: { writes: 'connections', reads: ['assistant'] },
}

/** Folders that write, and may read, a table of another one. */
export const EXCEPTIONS: readonly SecondWriter[] = [
  {
    table: 'messages',
    folder: 'assistant',
    reason: 'A finished answer is stored in the statement that ends its reply.',
  },
  { table: 'realtime.changes', folder: 'auth', reason: 'A closed account takes along the changes that name it.' },
  {
    table: 'replies',
    folder: 'conversations',
    reason: 'Stopping, retrying and branching change the queue in the transaction of the person.',
  },
  { table: 'reply_parts', folder: 'conversations', reason: 'Retrying deletes the parts of the earlier attempt.' },
  { table: 'storage.objects', folder: 'auth', reason: 'A closed account takes its objects along.' },
  {
    table: 'tool_requests',
    folder: 'assistant',
    reason: 'The end of a reply deletes the requests for consent that it leaves.',
  },
]
