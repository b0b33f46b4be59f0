/** A valid request for every route of the server, from which the fuzzer makes invalid ones. */
import { randomUUID } from 'node:crypto'

export const SERVICES = ['/rest/v1', '/auth/v1', '/storage/v1', '/realtime/v1', '/api', '/'] as const
export type Service = (typeof SERVICES)[number]

export const serviceOf = (path: string): Service => SERVICES.find((prefix) => path.startsWith(prefix)) ?? '/'

export interface FormPart {
  readonly name: string
  readonly filename?: string
  readonly type?: string
  readonly content: string
}

export type Body =
  | { readonly kind: 'none' }
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'form'; readonly parts: readonly FormPart[] }
  | { readonly kind: 'bytes'; readonly type: string; readonly content: string }

export interface ValidRequest {
  readonly method: string
  /** As the server declares it, with parameters. */
  readonly route: string
  /** Values of parameters that differ from those of the person. */
  readonly parameters?: Readonly<Record<string, string>>
  readonly query?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body: Body
}

/** A signed-up person with one of everything. */
export interface Attacker {
  readonly id: string
  readonly email: string
  readonly password: string
  readonly token: string
  readonly refreshToken: string
  readonly conversationId: string
  readonly messageId: string
  readonly documentId: string
  readonly objectKey: string
}

/** Servers on loopback that people may connect. */
export interface Neighbours {
  readonly modelUrl: string
  readonly toolUrl: string
}

const NONE: Body = { kind: 'none' }
const json = (value: unknown): Body => ({ kind: 'json', value })
const get = (route: string, query?: string): ValidRequest => ({
  method: 'GET',
  route,
  body: NONE,
  ...(query === undefined ? {} : { query }),
})
const send = (method: string, route: string, value: unknown = {}, query?: string): ValidRequest => ({
  ...get(route, query),
  method,
  body: json(value),
})
const remove = (route: string): ValidRequest => ({ method: 'DELETE', route, body: NONE })
const upload = (route: string, field: string, part: Omit<FormPart, 'name'>): ValidRequest => ({
  method: 'POST',
  route,
  body: { kind: 'form', parts: [{ name: field, ...part }] },
})

function apiRequests(
  { conversationId, messageId, documentId }: Attacker,
  { modelUrl, toolUrl }: Neighbours,
): ValidRequest[] {
  const conversation = '/api/conversations/:id'
  const text = { filename: 'a.txt', type: 'text/plain', content: `The lamp ${randomUUID()} stands there.` }
  const page = { filename: 'a.html', type: 'text/html', content: '<table><tr><td>1<td>2</table>' }
  return [
    get('/api/users/:id/conversations'),
    get('/api/users/:id/conversations', 'listed=true&search=title&limit=5'),
    send('POST', '/api/conversations', { title: 'A title', model_name: 'alcove-reader', metadata: { a: [1] } }),
    get(conversation),
    send('PATCH', conversation, { title: 'Other', pinned: true, metadata: { a: 1 } }),
    remove(conversation),
    get(`${conversation}/messages`, 'limit=5&before=100'),
    send('POST', `${conversation}/messages`, { id: randomUUID(), content: 'Where is the lamp?', metadata: {} }),
    get(`${conversation}/reply`),
    send('POST', `${conversation}/retry`),
    send('POST', `${conversation}/stop`),
    send('POST', `${conversation}/branch`, { id: randomUUID(), message_id: messageId, content: 'Otherwise?' }),
    send('POST', `${conversation}/messages/:messageId/regenerate`, { model_name: 'alcove-reader' }),
    send('POST', `${conversation}/messages/:messageId/continue`),
    get('/api/search', 'q=lamp'),
    get('/api/search/conversations', 'q=title'),
    get('/api/changes', 'since=title'),
    get('/api/search/documents', 'q=lamp+stands'),
    get('/api/documents'),
    get('/api/documents/count'),
    get('/api/documents/names', 'search=a'),
    get('/api/documents/matches', 'name=a'),
    { ...remove('/api/documents'), query: `ids=${documentId}` },
    send('POST', '/api/documents/known', { sha256: ['a'.repeat(64)] }),
    send('PATCH', '/api/documents/queue', { paused: false }),
    remove('/api/documents/queue'),
    upload('/api/documents', 'files', text),
    upload('/api/documents', 'files', page),
    upload('/api/documents/:id/versions', 'files', text),
    get('/api/documents/:id'),
    get('/api/documents/:id/file'),
    get('/api/documents/:id/pages/:page'),
    get('/api/documents/:id/report'),
    get('/api/documents/:id/versions'),
    send('PATCH', '/api/documents/:id', { filename: 'renamed.txt' }),
    send('POST', '/api/documents/:id/move', { space: null }),
    send('POST', '/api/documents/:id/copy', { space: null }),
    get('/api/documents', 'space=personal&limit=5'),
    remove('/api/documents/:id'),
    send('POST', `${conversation}/move`, { space: null }),
    send('POST', `${conversation}/copy`, { space: null }),
    send('POST', `${conversation}/unshare`),
    send('POST', `${conversation}/links`, { days: 1 }),
    get(`${conversation}/links`),
    remove('/api/links/:id'),
    get('/api/links/:token', 'after=0'),
    remove('/api/spaces/:id'),
    send('POST', '/api/spaces/:id/invitations', { email: 'guest@example.test', role: 'reader' }),
    get('/api/spaces/:id/providers'),
    send('POST', '/api/spaces/:id/providers', { kind: 'compatible', name: 'ours', baseUrl: modelUrl, apiKey: 'a-key' }),
    remove('/api/spaces/:id/providers/:providerId'),
    send('POST', '/api/invitations/:id/accept'),
    send('POST', '/api/invitations/:id/decline'),
    get('/api/models/visible'),
    get('/api/models/availability', 'model=alcove-reader'),
    send('POST', '/api/models/refresh'),
    get('/api/operation'),
    get('/api/operation/people', 'page=1'),
    send('POST', '/api/operation/people', { email: 'guest@example.test' }),
    send('POST', '/api/operation/people/:id/disable'),
    send('POST', '/api/operation/people/:id/enable'),
    send('POST', '/api/operation/people/:id/reset-second-factor'),
    { ...send('PUT', '/api/operation/settings/:name', { value: '1' }), parameters: { name: 'LIMIT_QUESTIONS' } },
    send('POST', '/api/operation/test-mail'),
    send('PUT', '/api/operation/models', { models: [randomUUID()], is_offered: true }),
    get('/api/operation/usage'),
    get('/api/providers'),
    send('POST', '/api/providers', { kind: 'compatible', name: 'mine', baseUrl: modelUrl, apiKey: 'a-key-of-mine' }),
    send('PATCH', '/api/providers/:id', { embeddings_model: 'text-embedding-3-small' }),
    remove('/api/providers/:id'),
    get('/api/embeddings'),
    get('/api/embeddings/offers'),
    send('PUT', '/api/embeddings', {
      provider: 'compatible',
      model: 'text-embedding-3-small',
      host: new URL(modelUrl).host,
    }),
    remove('/api/embeddings'),
    get('/api/tool-servers'),
    send('POST', '/api/tool-servers', { name: 'mine', url: toolUrl }),
    send('POST', '/api/tool-servers/:id/refresh'),
    remove('/api/tool-servers/:id'),
    send('POST', '/api/tool-requests/:id', { answer: 'denied' }),
    upload('/api/transcribe', 'audio', { filename: 'a.webm', type: 'audio/webm', content: 'sound' }),
    get('/api/openai/key'),
    get('/api/account/export/size'),
    get('/api/account/export'),
    get('/api/search', `q=lamp&conversation=${conversationId}`),
  ]
}

function authRequests({ email, password, refreshToken }: Attacker): ValidRequest[] {
  const challenge = { code_challenge: 'A'.repeat(43), code_challenge_method: 's256' }
  const stranger = { email: `${randomUUID()}@example.test`, password: 'a long enough password' }
  const admin = '/auth/v1/admin/users'
  return [
    send('POST', '/auth/v1/signup', { ...stranger, data: { name: 'A' }, ...challenge }),
    send('POST', '/auth/v1/token', { email, password }, 'grant_type=password'),
    send('POST', '/auth/v1/token', { refresh_token: refreshToken }, 'grant_type=refresh_token'),
    send('POST', '/auth/v1/token', { auth_code: randomUUID(), code_verifier: 'A'.repeat(43) }, 'grant_type=pkce'),
    send('POST', '/auth/v1/token', { provider: 'google', id_token: 'a.b.c' }, 'grant_type=id_token'),
    send('POST', '/auth/v1/verify', { email, type: 'recovery', token: '123456' }),
    get('/auth/v1/verify', 'token=abcdef&type=signup&redirect_to=/'),
    {
      method: 'POST',
      route: '/auth/v1/verify/link',
      body: {
        kind: 'bytes',
        type: 'application/x-www-form-urlencoded',
        content: 'token=abcdef&type=signup&redirect_to=/',
      },
    },
    send('POST', '/auth/v1/recover', { email, ...challenge }),
    send('POST', '/auth/v1/resend', { email, type: 'signup' }),
    send('POST', '/auth/v1/magiclink', { email }),
    send('POST', '/auth/v1/otp', { email, create_user: false, data: {} }),
    get('/auth/v1/user'),
    send('PUT', '/auth/v1/user', { data: { name: 'B' } }),
    get('/auth/v1/reauthenticate'),
    send('POST', '/auth/v1/factors', { factor_type: 'totp', friendly_name: 'phone', issuer: 'A' }),
    send('POST', '/auth/v1/factors/:id/challenge', { channel: 'sms' }),
    send('POST', '/auth/v1/factors/:id/verify', { challenge_id: randomUUID(), code: '123456' }),
    remove('/auth/v1/factors/:id'),
    get('/auth/v1/recovery-codes'),
    send('POST', '/auth/v1/recovery-codes'),
    send('POST', '/auth/v1/recovery-codes/verify', { code: 'AAAAA-AAAAA' }),
    get('/auth/v1/sessions'),
    remove('/auth/v1/sessions/:id'),
    send('POST', '/auth/v1/account/close', { confirmation: email, password: 'not this one' }),
    get('/auth/v1/authorize', 'provider=google&redirect_to=/&scopes=a'),
    get('/auth/v1/callback', 'code=a&state=b'),
    send('POST', '/auth/v1/sso', { domain: 'example.test', skip_http_redirect: true }),
    {
      method: 'POST',
      route: '/auth/v1/sso/saml/acs',
      body: { kind: 'bytes', type: 'application/x-www-form-urlencoded', content: 'SAMLResponse=PGE%2BPC9hPg%3D%3D' },
    },
    get('/auth/v1/sso/saml/finish', 'code=a'),
    get('/auth/v1/sso/saml/metadata'),
    get('/auth/v1/user/identities/authorize', 'provider=google&skip_http_redirect=true'),
    remove('/auth/v1/user/identities/:id'),
    get(admin, 'page=1&per_page=10'),
    send('POST', admin, { ...stranger, email_confirm: true }),
    get(`${admin}/:id`),
    send('PUT', `${admin}/:id`, { user_metadata: { a: 1 } }),
    remove(`${admin}/:id`),
    get(`${admin}/:id/factors`),
    remove(`${admin}/:id/factors/:factorId`),
    send('POST', '/auth/v1/admin/generate_link', { type: 'magiclink', email }),
    send('POST', '/auth/v1/invite', { email: stranger.email }),
    send('POST', '/auth/v1/logout', {}, 'scope=others'),
    get('/auth/v1/settings'),
    get('/auth/v1/health'),
    get('/auth/v1/.well-known/jwks.json'),
  ]
}

/** Resumable uploads exist in the protocol only: the server has no route for them. */
const RESUMABLE = {
  'tus-resumable': '1.0.0',
  'upload-length': '12',
  'upload-offset': '0',
  'upload-metadata': 'bucketName ZG9jdW1lbnRz,objectName YQ==',
}

function storageRequests({ objectKey }: Attacker): ValidRequest[] {
  const object = '/storage/v1/object'
  const page = { prefix: objectKey.split('/')[0], limit: 10, offset: 0, sortBy: { column: 'name', order: 'asc' } }
  const bytes: Body = { kind: 'bytes', type: 'text/plain', content: 'The lamp stands there.' }
  const key = `:bucket/:key{.+}`
  return [
    get('/storage/v1/status'),
    get('/storage/v1/health'),
    get('/storage/v1/bucket'),
    send('POST', '/storage/v1/bucket', { id: 'b', name: 'b', public: true, file_size_limit: '1MB' }),
    get('/storage/v1/bucket/:id'),
    send('PUT', '/storage/v1/bucket/:id', { public: true, allowed_mime_types: ['text/html'] }),
    send('POST', '/storage/v1/bucket/:id/empty'),
    remove('/storage/v1/bucket/:id'),
    send('POST', `${object}/list/:bucket`, page),
    send('POST', `${object}/list-v2/:bucket`, { prefix: page.prefix, limit: 10, with_delimiter: true }),
    send('POST', `${object}/move`, { bucketId: 'documents', sourceKey: objectKey, destinationKey: `${objectKey}b` }),
    send('POST', `${object}/copy`, { bucketId: 'documents', sourceKey: objectKey, destinationKey: `${objectKey}c` }),
    send('POST', `${object}/sign/:bucket`, { expiresIn: 60, paths: [objectKey] }),
    send('POST', `${object}/sign/${key}`, { expiresIn: 60, transform: null }),
    get(`${object}/sign/${key}`, 'token=a.b.c'),
    send('POST', `${object}/upload/sign/${key}`),
    { method: 'PUT', route: `${object}/upload/sign/${key}`, query: 'token=a.b.c', body: bytes },
    { method: 'POST', route: `${object}/${key}`, headers: { 'x-upsert': 'true', 'x-metadata': 'e30=' }, body: bytes },
    { method: 'PUT', route: `${object}/${key}`, headers: { 'cache-control': 'max-age=60' }, body: bytes },
    upload(`${object}/${key}`, '', { filename: 'a.txt', type: 'text/plain', content: 'The lamp stands there.' }),
    { ...get(`${object}/${key}`), headers: { range: 'bytes=0-3' } },
    get(`${object}/authenticated/${key}`, 'download=a.txt'),
    get(`${object}/public/${key}`),
    get(`${object}/info/${key}`),
    get(`${object}/info/authenticated/${key}`),
    get(`${object}/info/public/${key}`),
    { ...send('DELETE', `${object}/:bucket`, { prefixes: [`${objectKey}b`] }) },
    remove(`${object}/${key}`),
    get('/storage/v1/render/image/public/documents/a.png', 'width=100'),
    { ...send('POST', '/storage/v1/upload/resumable'), headers: RESUMABLE },
    { ...send('PATCH', '/storage/v1/upload/resumable/a'), headers: RESUMABLE },
  ]
}

/** Tables of the public schema that people may read or write. */
export const TABLES = [
  'conversations',
  'messages',
  'message_feedback',
  'message_versions',
  'conversation_summaries',
  'documents',
  'document_pages',
  'passages',
  'document_index',
  'models',
  'own_providers',
  'embeddings_consents',
  'embeddings_failures',
  'tool_servers',
  'tool_consents',
  'tool_requests',
  'replies',
  'user_settings',
  'spaces',
  'space_members',
  'space_invitations',
  'space_events',
  'space_providers',
  'share_links',
  'chat_history',
  'users',
] as const

function restRequests({ id, conversationId, messageId, documentId }: Attacker): ValidRequest[] {
  const table = (name: string, request: ValidRequest): ValidRequest => ({ ...request, parameters: { name } })
  const route = '/rest/v1/:name'
  const message = { conversation_id: conversationId, content: 'Where is the lamp?', sender_role: 1 }
  const rows = [message, { ...message, content: 'And the chair?' }]
  return [
    ...TABLES.map((name) => table(name, get(route, 'limit=20'))),
    table('conversations', get(route, 'select=*,messages(id,content)&order=started_at.desc&limit=5')),
    table('messages', get(route, 'select=content,conversations!inner(title)&content=ilike.*lamp*')),
    table('conversations', send('POST', route, { title: 'A', model_name: 'alcove-reader' })),
    table('messages', { ...send('POST', route, rows), headers: { prefer: 'return=representation' } }),
    table('message_feedback', send('POST', route, { message_id: messageId, rating: 1, reason: 'good' })),
    table('conversations', send('PATCH', route, { title: 'B', metadata: { a: 1 } }, `id=eq.${conversationId}`)),
    table('user_settings', {
      ...send('POST', route, { owner: id, preferences: { theme: 'dark' } }),
      headers: { prefer: 'resolution=merge-duplicates,return=representation' },
    }),
    table('conversations', send('PUT', route, { id: conversationId, title: 'C' }, `id=eq.${conversationId}`)),
    table('conversations', { ...remove(route), query: 'id=eq.00000000-0000-0000-0000-000000000000' }),
    table('messages', { ...get(route, 'select=count()'), headers: { prefer: 'count=exact', range: '0-9' } }),
    {
      method: 'POST',
      route,
      parameters: { name: 'conversations' },
      query: 'columns=title,model_name',
      body: { kind: 'bytes', type: 'text/csv', content: 'title,model_name\nA,alcove-reader\n' },
    },
    { ...send('POST', '/rest/v1/rpc/:name', { text: 'a' }), parameters: { name: 'fold_text' } },
    { ...get('/rest/v1/rpc/:name', 'text=a'), parameters: { name: 'fold_text' } },
    table('spaces', {
      ...send('POST', route, { name: 'A space', color: 'teal' }),
      headers: { prefer: 'return=representation' },
    }),
    table('spaces', send('PATCH', route, { name: 'Another', archived_at: null }, 'name=eq.A%20space')),
    table('space_members', send('PATCH', route, { role: 'reader' }, `user_id=eq.${id}`)),
    table('space_members', { ...remove(route), query: `user_id=eq.${id}` }),
    table('conversations', send('PATCH', route, { is_shared: true }, `id=eq.${conversationId}`)),
    ...Object.entries({
      move_document: { document: documentId, target: null },
      move_conversation: { conversation: conversationId, target: null },
      copy_document: { document: documentId, target: null },
      copy_conversation: { conversation: conversationId, target: null },
      invite_to_space: { space: id, address: 'guest@example.test', given_role: 'owner' },
      answer_invitation: { invitation: id, accepted: true },
      create_link: { conversation: conversationId, days: 7, anybody: true },
      delete_space: { space: id },
      open_link: { hash: '\\x00', after_position: 0, most: 10 },
      space_people: { space: id },
      libraries_to: { wanted: 'edit' },
      received_invitations: {},
      own_limits: {},
      own_daily_usage: { days: 30 },
    }).map(([name, values]): ValidRequest => ({ ...send('POST', '/rest/v1/rpc/:name', values), parameters: { name } })),
    get('/rest/v1/'),
  ]
}

function otherRequests({ conversationId }: Attacker): ValidRequest[] {
  const message = { topic: `conversation:${conversationId}`, event: 'e', payload: { a: 1 }, private: true }
  return [
    send('POST', '/realtime/v1/api/broadcast', { messages: [message, { ...message, topic: 'room', private: false }] }),
    send('POST', '/realtime/v1/api/broadcast/:topic/events/:event', { a: 1 }, 'private=true'),
    get('/config.json'),
    get('/favicon.svg'),
    get('/healthz'),
    get('/metrics'),
    get('/mailbox'),
    get('/mailbox.css'),
    get('/mailbox.json'),
    get('/operator', 'token=a'),
    {
      ...get('/operator'),
      method: 'POST',
      body: {
        kind: 'bytes',
        type: 'application/x-www-form-urlencoded',
        content: 'token=a&email=a@b.test&password=long-enough',
      },
    },
    get('/login'),
    get('/assets/a.js'),
    get('/pdfjs/a.js'),
  ]
}

export const validRequests = (attacker: Attacker, neighbours: Neighbours): ValidRequest[] => [
  ...apiRequests(attacker, neighbours),
  ...authRequests(attacker),
  ...storageRequests(attacker),
  ...restRequests(attacker),
  ...otherRequests(attacker),
]

/** The path of a request, with its parameters filled in. */
export function pathOf({ route, parameters = {} }: ValidRequest, attacker: Attacker): string {
  const known: Readonly<Record<string, string>> = {
    bucket: 'documents',
    key: attacker.objectKey,
    page: '1',
    messageId: attacker.messageId,
    topic: 'room',
    event: 'e',
    token: 'a'.repeat(43),
    ...parameters,
  }
  const idOf = (path: string): string => {
    if (path.startsWith('/api/users') || path.startsWith('/auth/v1/admin')) return attacker.id
    if (path.startsWith('/api/documents')) return attacker.documentId
    return path.startsWith('/storage/v1/bucket') ? 'documents' : attacker.conversationId
  }
  return route.replaceAll(/:(\w+)(\{[^}]*\})?/g, (_, name: string) => known[name] ?? idOf(route))
}
