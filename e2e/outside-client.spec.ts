/** An external program with the official client: sign in, upload, ask, receive the answer, read its sources. */
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createClient, REALTIME_SUBSCRIBE_STATES } from '@supabase/supabase-js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { uploadAnswer } from '#contract/document.ts'
import { type MessageRow, messageRow } from '#contract/message.ts'
import { type ReplyPart, replyPart } from '#contract/reply-events.ts'
import { type AlcoveProcess, startAlcove } from '#test/alcove.ts'
import { copyStartedDataDir } from '#test/started-data.ts'
import { isPassageSource } from '#contract/source.ts'
import { makePdf } from '#test/make-pdf.ts'
import { startStubModel, type StubModel } from '#test/stub-model.ts'

const REAL_PDF = new URL('../../shared/data/dev/documents/professional-services-agreement.pdf', import.meta.url)

let folder: Awaited<ReturnType<typeof copyStartedDataDir>>
let alcove: AlcoveProcess
let stub: StubModel
let client: ReturnType<typeof connect>
let token: string
let userId: string

const connect = (url: string, key: string) => createClient(url, key)

beforeAll(async () => {
  folder = await copyStartedDataDir()
  stub = await startStubModel({ models: 'stub-gpt' })
  alcove = await startAlcove({ DATA_DIR: folder.dataDir, OPENAI_COMPATIBLE_BASE_URL: stub.baseUrl })
  const { supabaseUrl, supabaseAnonKey, testAccount } = await alcove.config()
  client = connect(supabaseUrl, supabaseAnonKey)
  if (!testAccount) throw new Error('the local set-up has no test account')
  const { data, error } = await client.auth.signInWithPassword(testAccount)
  if (error) throw error
  token = data.session.access_token
  userId = data.user.id
  await client.realtime.setAuth(token)
})
afterAll(async () => {
  await client.removeAllChannels()
  await client.auth.signOut()
  expect(await alcove.end()).toBe(0)
  await stub.stop()
  await folder.remove()
})

const api = (path: string, init: RequestInit = {}) =>
  fetch(`${alcove.url}/api${path}`, { ...init, headers: { authorization: `Bearer ${token}` } })

/** Uploads and follows live changes until the document is ready. */
async function upload(name: string, bytes: Uint8Array): Promise<string> {
  const settled = Promise.withResolvers<{ id: string; state: string }>()
  const channel = client
    .channel(`uploads-${randomUUID()}`)
    .on('postgres_changes', { event: 'UPDATE', schema: 'public', table: 'documents' }, ({ new: row }) => {
      if (row['state'] === 'ready' || row['state'] === 'failed') settled.resolve(row as { id: string; state: string })
    })
  await subscribed(channel)
  const form = new FormData()
  form.append('files', new Blob([new Uint8Array(bytes)], { type: 'application/pdf' }), name)
  const answer = uploadAnswer.parse(await (await api('/documents', { method: 'POST', body: form })).json())
  expect(answer.rejected).toEqual([])
  const { id, state } = await settled.promise
  expect(state).toBe('ready')
  await client.removeChannel(channel)
  return id
}

/** Resolves once the channel is joined and its database changes, if any, are live. */
function subscribed(channel: ReturnType<(typeof client)['channel']>): Promise<void> {
  const wantsChanges = (channel.bindings['postgres_changes']?.length ?? 0) > 0
  return new Promise((resolve, reject) => {
    if (wantsChanges) {
      channel.on('system', {}, ({ status, message }: { status: string; message: string }) =>
        status === 'ok' ? resolve() : reject(new Error(message)),
      )
    }
    channel.subscribe((status, error) => {
      if (status === REALTIME_SUBSCRIBE_STATES.SUBSCRIBED && !wantsChanges) resolve()
      if (status === REALTIME_SUBSCRIBE_STATES.CHANNEL_ERROR) reject(error ?? new Error(status))
    })
  })
}

/** Asks in a new conversation; resolves with the streamed parts and the stored answer from the socket. */
async function ask(question: string, model: string): Promise<{ parts: ReplyPart[]; answer: MessageRow }> {
  const conversationId = randomUUID()
  const created = await client
    .from('conversations')
    .insert({ id: conversationId, uid: userId, title: 'Test', model_name: model })
  expect(created.error).toBeNull()
  const parts: ReplyPart[] = []
  const ended = Promise.withResolvers<undefined>()
  const stored = Promise.withResolvers<MessageRow>()
  const live = client
    .channel(`conversation:${conversationId}`, { config: { private: true } })
    .on('broadcast', { event: 'reply' }, ({ payload }) => {
      const part = replyPart.parse(payload)
      parts.push(part)
      if (part.type === 'done' || part.type === 'error') ended.resolve(undefined)
    })
  const inserts = client
    .channel(`messages-${conversationId}`)
    .on(
      'postgres_changes',
      { event: 'INSERT', schema: 'public', table: 'messages', filter: `conversation_id=eq.${conversationId}` },
      ({ new: row }) => {
        if (row['sender_role'] === 2) stored.resolve(messageRow.parse(row))
      },
    )
  await Promise.all([subscribed(live), subscribed(inserts)])
  const inserted = await client
    .from('messages')
    .insert({ id: randomUUID(), conversation_id: conversationId, content: question, sender_role: 1 })
  expect(inserted.error).toBeNull()
  const [answer] = await Promise.all([stored.promise, ended.promise])
  await Promise.all([client.removeChannel(live), client.removeChannel(inserts)])
  return { parts, answer }
}

const shownText = (parts: readonly ReplyPart[]) =>
  parts
    .filter(({ type }) => type === 'text')
    .map(({ text }) => text)
    .join('')

const passagesOf = (answer: MessageRow) => (answer.metadata?.sources ?? []).filter(isPassageSource)

async function expectSourcesToBeExact(answer: MessageRow): Promise<void> {
  const sources = passagesOf(answer)
  expect(sources.length).toBeGreaterThan(0)
  for (const { documentId, page, start, end, text } of sources) {
    const pageText = (await (await api(`/documents/${documentId}/pages/${page}`)).json()) as { text: string }
    expect(pageText.text.slice(start, end)).toBe(text)
  }
}

test('the Reader quotes the page that answers, and the quote is exactly there', async () => {
  const id = await upload(
    'lighthouse.pdf',
    makePdf([
      'The harbour office opens at eight.',
      'The lighthouse keeper must trim the lamp every four hours.\nVisitors sign the book.',
    ]),
  )
  const { parts, answer } = await ask('How often does the keeper trim the lamp?', 'alcove-reader')
  expect(answer.content).toContain('trim the lamp every four hours')
  expect(shownText(parts)).toBe(answer.content)
  expect(answer.metadata?.sources?.[0]).toMatchObject({ n: 1, documentId: id, filename: 'lighthouse.pdf', page: 2 })
  await expectSourcesToBeExact(answer)
})

test('the Reader says plainly when the documents hold nothing', async () => {
  const { answer } = await ask('Which vitamins does broccoli contain?', 'alcove-reader')
  expect(answer.content).toBe('I found nothing in your documents that answers this.')
  expect(answer.metadata?.sources).toEqual([])
})

test('a listed model streams exactly its text, with the passages as sources', async () => {
  const models = await client.from('models').select('model_identifier, provider').eq('provider', 'OpenAI-compatible')
  expect(models.data).toEqual([{ model_identifier: 'openai-compatible/stub-gpt', provider: 'OpenAI-compatible' }])
  const { parts, answer } = await ask(
    'How often does the keeper trim the lamp? [[stub tokens=300 tps=1000]]',
    'openai-compatible/stub-gpt',
  )
  expect(answer.content).toBe(await stub.text(300))
  expect(shownText(parts)).toBe(answer.content)
  expect(parts.map(({ seq }) => seq)).toEqual(parts.map((_, index) => index + 1))
  expect(answer.metadata?.sources?.[0]).toMatchObject({ page: 2 })
  await expectSourcesToBeExact(answer)
})

test.runIf(existsSync(REAL_PDF))('a real contract is found, quoted and cited', async () => {
  await upload('professional-services-agreement.pdf', await readFile(REAL_PDF))
  const { answer } = await ask(
    'How long after doing the work does the consultant have to send the bill?',
    'alcove-reader',
  )
  expect(passagesOf(answer).map(({ filename, page }) => `${filename} ${page}`)).toContain(
    'professional-services-agreement.pdf 2',
  )
  await expectSourcesToBeExact(answer)
})

test('the storage client keeps a file in the own folder, and nowhere else', async () => {
  const bucket = client.storage.from('documents')
  const file = new Blob(['a note about the lamp'], { type: 'text/plain' })
  expect((await bucket.upload(`${userId}/note.txt`, file)).error).toBeNull()
  expect(await (await bucket.download(`${userId}/note.txt`)).data?.text()).toBe('a note about the lamp')
  expect((await bucket.upload(`${randomUUID()}/note.txt`, file)).error?.message).toContain('row-level security')
})

test('the keys command prints keys that the services accept', async () => {
  const { execFile } = await import('node:child_process')
  const { promisify } = await import('node:util')
  const { stdout } = await promisify(execFile)(process.execPath, ['scripts/keys.ts'], {
    env: { ...process.env, DATA_DIR: folder.dataDir },
  })
  const { serviceRoleKey } = JSON.parse(stdout) as { anonKey: string; serviceRoleKey: string }
  const service = createClient(alcove.url, serviceRoleKey, { auth: { persistSession: false } })
  const everyones = await service.from('conversations').select('uid')
  expect(everyones.data?.length).toBeGreaterThan(0)
})
