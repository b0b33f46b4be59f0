/**
 * Spaces as outside programs use them: the official client and `/api` of a running server. An owner shares documents, answers
 * and links with members, and what a person may do ends with the role that allowed it.
 */
import { REALTIME_SUBSCRIBE_STATES } from '@supabase/supabase-js'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { conversationRow } from '#contract/conversation.ts'
import { documentRow } from '#contract/document.ts'
import { messageRow, type MessageRow } from '#contract/message.ts'
import { createdLink, sharedConversation, spaceReceipt } from '#contract/space.ts'
import { createLog } from '#server/base/log.ts'
import { readConfig } from '#server/config.ts'
import { type Alcove, startAlcove } from '#server/start/start.ts'
import { idRow, openSpaceClients, type SignedUp, type SpaceClients, WAIT_LIMIT } from '#test/space-clients.ts'
import { copyStartedDataDir } from '#test/started-data.ts'

let folder: Awaited<ReturnType<typeof copyStartedDataDir>>
let alcove: Alcove
let people: SpaceClients

beforeAll(async () => {
  folder = await copyStartedDataDir()
  alcove = await startAlcove(
    readConfig({ DATA_DIR: folder.dataDir, PORT: '0', AUTH_AUTOCONFIRM: 'true', PUBLIC_LINKS: 'on' }),
    createLog('silent'),
  )
  people = await openSpaceClients(alcove.address)
})
afterAll(async () => {
  await alcove.stop()
  await folder.remove()
})

const signUp = (name: string) => people.signUp(name)
const call: SpaceClients['call'] = (...given) => people.call(...given)
const createSpace: SpaceClients['createSpace'] = (...given) => people.createSpace(...given)
const join: SpaceClients['join'] = (...given) => people.join(...given)
const upload: SpaceClients['upload'] = (...given) => people.upload(...given)
const addDocument: SpaceClients['addDocument'] = (...given) => people.addDocument(...given)
const startConversation: SpaceClients['startConversation'] = (...given) => people.startConversation(...given)
const ask: SpaceClients['ask'] = (...given) => people.ask(...given)

const sourcesOf = ({ metadata }: MessageRow): string[] =>
  (metadata?.sources ?? []).flatMap((source) => ('filename' in source ? [source.filename] : []))

test('whoever makes a space owns it, and people join it by invitation alone', async () => {
  const [ada, ben, eve] = [await signUp('Ada'), await signUp('Ben'), await signUp('Eve')]
  const space = await createSpace(ada, 'Lighthouse')
  expect((await ada.client.from('space_members').select('user_id, role')).data).toEqual([
    { user_id: ada.id, role: 'owner' },
  ])

  const answers = await Promise.all(
    [ben.email, 'stranger@example.test'].map((email) =>
      call(ada, 'POST', `/api/spaces/${space}/invitations`, { email, role: 'reader' }),
    ),
  )
  expect(answers.map(({ status }) => status)).toEqual([202, 202])
  expect(await Promise.all(answers.map((answer) => answer.text()))).toEqual(['{}', '{}'])
  expect(
    (await call(eve, 'POST', `/api/spaces/${space}/invitations`, { email: eve.email, role: 'owner' })).status,
  ).toBe(404)

  expect((await ben.client.from('spaces').select()).data).toEqual([])
  const received = await ben.client.rpc('received_invitations')
  expect(received.data).toMatchObject([
    { space_name: 'Lighthouse', role: 'reader', invited_by: 'Ada', documents: 0, members: 1 },
  ])
  const { id } = z.array(idRow).parse(received.data)[0] ?? { id: '' }
  expect((await call(eve, 'POST', `/api/invitations/${id}/accept`, {})).status).toBe(404)
  expect((await call(ben, 'POST', `/api/invitations/${id}/accept`, {})).status).toBe(200)
  expect((await call(ben, 'POST', `/api/invitations/${id}/accept`, {})).status).toBe(404)
  expect((await ben.client.from('spaces').select('name')).data).toEqual([{ name: 'Lighthouse' }])
  expect((await ben.client.rpc('space_people', { space })).data).toMatchObject([
    { name: 'Ada', role: 'owner' },
    { name: 'Ben', role: 'reader' },
  ])
  expect((await eve.client.rpc('space_people', { space })).data).toEqual([])
  // A reader neither changes nor invites.
  expect((await ben.client.from('spaces').update({ name: 'Mine' }).eq('id', space).select()).data).toEqual([])
  expect(
    (await call(ben, 'POST', `/api/spaces/${space}/invitations`, { email: eve.email, role: 'reader' })).status,
  ).toBe(403)
})

test('a question is answered from the documents of its space alone, and from one’s own where that is asked for', async () => {
  const [ada, ben] = [await signUp('Ada'), await signUp('Ben')]
  const space = await createSpace(ada, 'Lighthouse')
  await join(ada, ben, space, 'reader')
  await addDocument(ada, 'keeper.txt', 'The keeper of the lighthouse is Ruth Winterbourne.', space)
  await addDocument(ben, 'own.txt', 'The keeper of the harbour is Tomas Hallgren.')

  expect((await upload(ben, 'no.txt', 'A reader adds nothing.', space)).status).toBe(403)
  const inSpace = await startConversation(ben, space)
  const answer = await ask(ben, inSpace, 'Who is the keeper of the lighthouse?')
  expect(answer.content).toContain('Ruth Winterbourne')
  expect(sourcesOf(await ask(ben, inSpace, 'Who is the keeper of the harbour?'))).not.toContain('own.txt')
  const both = await ask(ben, inSpace, 'Who is the keeper of the harbour?', { ownDocuments: true })
  expect(both.content).toContain('Tomas Hallgren')
  expect(both.metadata?.trace?.notes.join(' ')).toContain('“Lighthouse” and your own')
  const personal = await startConversation(ben, null)
  expect(sourcesOf(await ask(ben, personal, 'Who is the keeper of the lighthouse?'))).not.toContain('keeper.txt')
  // The owner of the space sees nothing of them.
  expect((await ada.client.from('conversations').select()).data).toEqual([])
})

test('a shared conversation is read by members and continued by editors, each with the own rights', async () => {
  const [ada, ben, eve] = [await signUp('Ada'), await signUp('Ben'), await signUp('Eve')]
  const space = await createSpace(ada, 'Lighthouse')
  await join(ada, ben, space, 'editor')
  await join(ada, eve, space, 'reader')
  await addDocument(ada, 'keeper.txt', 'The keeper of the lighthouse is Ruth Winterbourne.', space)
  await addDocument(ben, 'own.txt', 'The keeper of the harbour is Tomas Hallgren.')
  const conversation = await startConversation(ada, space)
  await ask(ada, conversation, 'Who is the keeper of the lighthouse?')
  expect((await ben.client.from('messages').select()).data).toEqual([])
  await ada.client.from('conversations').update({ is_shared: true }).eq('id', conversation).throwOnError()

  const answer = await ask(ben, conversation, 'Who is the keeper of the harbour?', { ownDocuments: true })
  expect(answer.content).toContain('Tomas Hallgren')
  const { data } = await eve.client
    .from('messages')
    .select('author, sender_role')
    .eq('conversation_id', conversation)
    .order('position')
  expect(data).toEqual([
    { author: ada.id, sender_role: 1 },
    { author: null, sender_role: 2 },
    { author: ben.id, sender_role: 1 },
    { author: null, sender_role: 2 },
  ])
  const refused = await eve.client
    .from('messages')
    .insert({ conversation_id: conversation, content: 'And I?', sender_role: 1 })
  expect(refused.status).toBe(403)
  expect((await call(eve, 'POST', `/api/conversations/${conversation}/messages`, { content: 'And I?' })).status).toBe(
    403,
  )
  expect((await call(eve, 'POST', `/api/conversations/${conversation}/stop`, {})).status).toBe(403)
  // A person who repeats the question of another adds no documents to it.
  const again = `/api/conversations/${conversation}/messages/${answer.id}/regenerate`
  expect((await call(ada, 'POST', again, {})).status).toBe(202)
  await vi.waitFor(async () => {
    const rewritten = await ada.client.from('messages').select().eq('id', answer.id).single().throwOnError()
    const row = messageRow.parse(rewritten.data)
    expect(row.metadata?.version).toBe(2)
    expect(sourcesOf(row)).not.toContain('own.txt')
  }, WAIT_LIMIT)
  // A person writes under the own name only.
  const forged = { conversation_id: conversation, content: 'Not me', sender_role: 1, author: ada.id }
  expect((await ben.client.from('messages').insert(forged)).status).toBe(403)
})

test('what a person may read ends with the membership', async () => {
  const [ada, ben] = [await signUp('Ada'), await signUp('Ben')]
  const space = await createSpace(ada, 'Lighthouse')
  await join(ada, ben, space, 'editor')
  const document = await addDocument(ada, 'keeper.txt', 'The keeper of the lighthouse is Ruth Winterbourne.', space)
  const conversation = await startConversation(ben, space)
  await ask(ben, conversation, 'Who is the keeper of the lighthouse?')
  const closed = Promise.withResolvers<string>()
  await ben.client.realtime.setAuth(ben.token)
  const channel = ben.client.channel(`space:${space}`, { config: { private: true } })
  await new Promise<void>((resolve) =>
    channel.subscribe((status) => {
      if (status === REALTIME_SUBSCRIBE_STATES.SUBSCRIBED) resolve()
      else closed.resolve(status)
    }),
  )
  await ada.client.from('space_members').delete().eq('space_id', space).eq('user_id', ben.id).throwOnError()
  expect(await closed.promise).not.toBe('SUBSCRIBED')
  await ben.client.removeAllChannels()
  for (const table of [
    'spaces',
    'space_members',
    'conversations',
    'messages',
    'documents',
    'document_pages',
    'replies',
  ])
    expect((await ben.client.from(table).select()).data, table).toEqual([])
  expect((await call(ben, 'GET', `/api/documents/${document}`)).status).toBe(404)
  expect((await call(ben, 'GET', `/api/documents/${document}/file`)).status).toBe(404)
  expect((await call(ben, 'GET', `/api/conversations/${conversation}`)).status).toBe(404)
  const { data } = await ada.client.from('space_events').select('kind').eq('space_id', space).order('id')
  expect(data?.map(({ kind }) => kind as string)).toEqual(['created', 'invited', 'joined', 'removed'])
})

test('the last owner stays, and hands over first', async () => {
  const [ada, ben] = [await signUp('Ada'), await signUp('Ben')]
  const space = await createSpace(ada, 'Lighthouse')
  await join(ada, ben, space, 'editor')
  const leave = () => ada.client.from('space_members').delete().eq('space_id', space).eq('user_id', ada.id).select()
  expect((await leave()).status).toBe(409)
  await ada.client
    .from('space_members')
    .update({ role: 'owner' })
    .eq('space_id', space)
    .eq('user_id', ben.id)
    .throwOnError()
  expect((await leave()).data).toHaveLength(1)
  expect((await ben.client.rpc('space_people', { space })).data).toMatchObject([{ name: 'Ben', role: 'owner' }])
})

test('documents and conversations move, and are found where they are', async () => {
  const [ada, ben] = [await signUp('Ada'), await signUp('Ben')]
  const space = await createSpace(ada, 'Lighthouse')
  await join(ada, ben, space, 'reader')
  const document = await addDocument(ada, 'keeper.txt', 'The keeper of the lighthouse is Ruth Winterbourne.')
  const conversation = await startConversation(ada, null)
  await ask(ada, conversation, 'Who is the keeper of the lighthouse?')

  expect((await call(ben, 'POST', `/api/documents/${document}/move`, { space })).status).toBe(404)
  const moved = await call(ada, 'POST', `/api/documents/${document}/move`, { space })
  expect(documentRow.parse(await moved.json())).toMatchObject({ id: document, space_id: space })
  expect((await call(ben, 'POST', `/api/documents/${document}/move`, { space: null })).status).toBe(403)
  expect(await (await call(ada, 'GET', '/api/documents?space=personal')).json()).toEqual([])
  const asked = await startConversation(ben, space)
  await vi.waitFor(async () => {
    const answer = await ask(ben, asked, 'Who is the keeper of the lighthouse?')
    expect(answer.content).toContain('Ruth Winterbourne')
  }, WAIT_LIMIT)

  const inSpace = await call(ada, 'POST', `/api/conversations/${conversation}/move`, { space })
  expect(await inSpace.json()).toMatchObject({ space_id: space, is_shared: false })
  expect((await ben.client.from('conversations').select('id').eq('id', conversation)).data).toEqual([])
  expect((await call(ada, 'POST', `/api/conversations/${conversation}/move`, { space: null })).status).toBe(200)
})

test('documents and conversations are copied, and each copy is found and opened where it is', async () => {
  const [ada, ben] = [await signUp('Ada'), await signUp('Ben')]
  const space = await createSpace(ada, 'Lighthouse')
  await join(ada, ben, space, 'reader')
  const document = await addDocument(ada, 'keeper.txt', 'The keeper of the lighthouse is Ruth Winterbourne.')
  const conversation = await startConversation(ada, null)
  await ask(ada, conversation, 'Who is the keeper of the lighthouse?')

  expect((await call(ben, 'POST', `/api/documents/${document}/copy`, { space })).status).toBe(404)
  const copied = await call(ada, 'POST', `/api/documents/${document}/copy`, { space })
  expect(copied.status).toBe(201)
  const copy = documentRow.parse(await copied.json())
  expect(copy).toMatchObject({ space_id: space, filename: 'keeper.txt', state: 'ready' })
  expect((await call(ada, 'POST', `/api/documents/${document}/copy`, { space })).status).toBe(409)
  expect((await call(ben, 'POST', `/api/documents/${copy.id}/copy`, { space: null })).status).toBe(403)
  expect((await call(ada, 'DELETE', `/api/documents/${document}`)).status).toBe(204)
  expect(await (await call(ben, 'GET', `/api/documents/${copy.id}/file`)).text()).toContain('Ruth Winterbourne')
  const asked = await startConversation(ben, space)
  await vi.waitFor(async () => {
    const answer = await ask(ben, asked, 'Who is the keeper of the lighthouse?')
    expect(answer.content).toContain('Ruth Winterbourne')
  }, WAIT_LIMIT)

  const inSpace = await call(ada, 'POST', `/api/conversations/${conversation}/copy`, { space })
  expect(inSpace.status).toBe(201)
  const { id } = conversationRow.parse(await inSpace.json())
  const messages = await ada.client.from('messages').select('content').eq('conversation_id', id).order('position')
  expect(messages.data).toMatchObject([
    { content: 'Who is the keeper of the lighthouse?' },
    { content: expect.stringContaining('Ruth Winterbourne') as unknown },
  ])
  expect((await call(ben, 'POST', `/api/conversations/${id}/copy`, { space })).status).toBe(404)
})

test('who deletes a space gets a receipt of everything in it, also by mail, and others get none', async () => {
  const [ada, ben, eve] = [await signUp('Ada'), await signUp('Ben'), await signUp('Eve')]
  const space = await createSpace(ada, 'Lighthouse')
  await join(ada, ben, space, 'editor')
  const document = await addDocument(ada, 'keeper.txt', 'The keeper of the lighthouse is Ruth Winterbourne.', space)
  const hidden = await startConversation(ben, space)
  await ask(ben, hidden, 'Who is the keeper of the lighthouse?')
  for (const [person, status] of [
    [ben, 403],
    [eve, 404],
    [undefined, 401],
  ] as const)
    expect((await call(person, 'DELETE', `/api/spaces/${space}`)).status).toBe(status)
  const deleted = await call(ada, 'DELETE', `/api/spaces/${space}`)
  expect(deleted.status).toBe(200)
  const receipt = spaceReceipt.parse(await deleted.json())
  expect(receipt).toMatchObject({
    space: 'Lighthouse',
    removed: { conversations: 1, messages: 2, documents: 1, document_bytes: 50, members: 2, links: 0, keys: 0 },
  })
  expect((await call(ada, 'DELETE', `/api/spaces/${space}`)).status).toBe(404)
  expect((await call(ben, 'GET', `/api/documents/${document}`)).status).toBe(404)
  await vi.waitFor(async () => {
    const mails = JSON.stringify(await (await fetch(`${alcove.address}/mailbox.json`)).json())
    expect(mails).toContain(receipt.id)
    expect(mails).toContain('1 conversations, 2 messages, 1 documents')
  }, WAIT_LIMIT)
})

test('a link opens one conversation with its cited passages, until it ends', async () => {
  const [ada, ben, eve] = [await signUp('Ada'), await signUp('Ben'), await signUp('Eve')]
  const space = await createSpace(ada, 'Lighthouse')
  await join(ada, ben, space, 'editor')
  await addDocument(ada, 'keeper.txt', 'The keeper of the lighthouse is Ruth Winterbourne.', space)
  const conversation = await startConversation(ada, space)
  await ask(ada, conversation, 'Who is the keeper of the lighthouse?')
  expect((await call(ben, 'POST', `/api/conversations/${conversation}/links`, {})).status).toBe(404)
  await ada.client.from('conversations').update({ is_shared: true }).eq('id', conversation).throwOnError()

  const open = (person: SignedUp | undefined, { url }: { url: string }) =>
    call(person, 'GET', `/api/links/${new URL(url).searchParams.get('link') ?? ''}`)
  const make = async (person: SignedUp, body: object) =>
    createdLink.parse(await (await call(person, 'POST', `/api/conversations/${conversation}/links`, body)).json())
  const [signedIn, anybody] = [await make(ben, {}), await make(ada, { days: 1, anybody: true })]
  const shown = sharedConversation.parse(await (await open(eve, signedIn)).json())
  expect(shown.messages.map(({ sender_role }) => sender_role)).toEqual([1, 2])
  expect(JSON.stringify(shown.messages[1]?.sources)).toContain('keeper.txt')
  expect((await open(undefined, signedIn)).status).toBe(401)
  const publicly = await open(undefined, anybody)
  expect([publicly.status, publicly.headers.get('x-robots-tag')]).toEqual([200, 'noindex, nofollow'])
  expect((await call(eve, 'GET', '/api/links/AAAA')).status).toBe(404)

  expect((await call(eve, 'DELETE', `/api/links/${anybody.id}`)).status).toBe(404)
  expect((await call(ada, 'DELETE', `/api/links/${anybody.id}`)).status).toBe(204)
  expect((await open(undefined, anybody)).status).toBe(404)
  // With the right to make a link, the link goes.
  await ada.client
    .from('space_members')
    .update({ role: 'reader' })
    .eq('space_id', space)
    .eq('user_id', ben.id)
    .throwOnError()
  expect((await open(eve, signedIn)).status).toBe(404)
})
