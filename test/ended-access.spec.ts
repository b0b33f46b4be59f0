/**
 * Transfers on a started server end with the session or the account of the person who began them: downloads that are read
 * slowly, links that others read, uploads, and requests whose bodies arrive late.
 */
import { open, readdir, stat } from 'node:fs/promises'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type AlcoveProcess, createDataDir, startAlcove } from '#test/alcove.ts'
import { createEmptyDatabase } from '#test/database.ts'
import { openSpaceClients, type SignedUp, type SpaceClients } from '#test/space-clients.ts'

/** More than the buffers of two sockets hold. */
const LARGE_BYTES = 64 * 1024 * 1024
/** A function of the operator, whose statement takes long. */
const SLOW_RENAMING = `
  create function public.rename_slowly(conversation uuid) returns void language plpgsql as $$
  begin
    update public.conversations set title = 'late' where id = conversation;
    perform pg_sleep(7);
  end $$;
  grant execute on function public.rename_slowly(uuid) to authenticated;
  notify pgrst, 'reload schema'`
const NEW_PASSWORD = 'the password of an attacker'

let folder: Awaited<ReturnType<typeof createDataDir>>
let alcove: AlcoveProcess
let admin: Awaited<ReturnType<typeof createEmptyDatabase>>['admin']
let people: SpaceClients
let apikey: string
let person: SignedUp
let key: string
/** Files so far: the length of each tells its bytes from all others that are stored. */
let made = 0

beforeAll(async () => {
  const created = await createEmptyDatabase()
  ;({ admin } = created)
  folder = await createDataDir()
  alcove = await startAlcove({
    DATA_DIR: folder.dataDir,
    ...created.environment,
    AUTH_AUTOCONFIRM: 'true',
    LOG_LEVEL: 'warn',
  })
  people = await openSpaceClients(alcove.url)
  apikey = (await alcove.config()).supabaseAnonKey
  await admin.query(SLOW_RENAMING)
})
afterAll(async () => {
  await alcove.end('SIGKILL')
  await admin.end()
  await folder.remove()
})
beforeEach(async () => {
  person = await people.signUp('Ada')
  key = `${person.id}/keeper.txt`
})

const headersOf = ({ token }: SignedUp) => ({ apikey, authorization: `Bearer ${token}` })

async function signOut(): Promise<void> {
  const ended = await fetch(`${alcove.url}/auth/v1/logout`, { method: 'POST', headers: headersOf(person) })
  expect(ended.status).toBe(204)
}

const disable = () => admin.query(`update auth.users set banned_until = '2500-01-01' where id = $1`, [person.id])
const deleteAccount = () => admin.query('delete from auth.users where id = $1', [person.id])

/** Waits until the server has stored the first bytes of an upload, whose file has another name until it is whole. */
async function awaitBytes(): Promise<void> {
  const hasBegun = async () => {
    const entries = await readdir(path.join(folder.dataDir, 'blobs'), { recursive: true, withFileTypes: true })
    const unfinished = entries.filter(({ name }) => name.endsWith('.unfinished'))
    const sizes = unfinished.map(async ({ parentPath, name }) => (await stat(path.join(parentPath, name))).size)
    return Math.max(0, ...(await Promise.all(sizes))) > 0
  }
  await expect.poll(() => hasBegun().catch(() => false)).toBe(true)
}

/** Makes the stored bytes of the person's only file large, so that its download lasts as long as its reader likes. */
async function storeLargeFile(): Promise<void> {
  made += 1
  const content = 'Ruth Winterbourne.'.padEnd(1_000 + made)
  const stored = await person.client.storage.from('documents').upload(key, content, { contentType: 'text/plain' })
  expect(stored.error).toBeNull()
  const blobs = path.join(folder.dataDir, 'blobs')
  for (const entry of await readdir(blobs, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const file = await open(path.join(entry.parentPath, entry.name), 'r+')
    try {
      if ((await file.stat()).size === content.length) await file.truncate(LARGE_BYTES)
    } finally {
      await file.close()
    }
  }
}

/** Begins to read a response, which then waits; returns what reads it to its end. */
async function beginReading(url: string, headers: Record<string, string> = {}): Promise<() => Promise<number>> {
  const response = await fetch(url, { headers })
  expect(response.status).toBe(200)
  expect(response.headers.get('content-length')).toBe(String(LARGE_BYTES))
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  let bytes = (await reader.read()).value?.length ?? 0
  return async function readRest() {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return bytes
      bytes += value.length
    }
  }
}

/** A request whose second half arrives late; `finish` sends the rest and resolves with its status, or 0 for a closed connection. */
async function begin(method: string, route: string, body: string | Buffer, headers: Record<string, string>) {
  const [half, length] = [Math.floor(body.length / 2), Buffer.byteLength(body)]
  const sent: ClientRequest = request(alcove.url + route, {
    method,
    headers: { ...headersOf(person), 'content-length': length, ...headers },
  })
  const answered = new Promise<IncomingMessage | undefined>((resolve) => {
    sent.once('response', resolve)
    sent.once('error', () => {
      resolve(undefined)
    })
  })
  await new Promise((resolve) => sent.write(body.slice(0, half), resolve))
  return {
    closed: new Promise<void>((resolve) => void sent.once('close', resolve)),
    async finish(): Promise<number> {
      sent.end(body.slice(half))
      const answer = await answered
      if (answer) await text(answer).catch(() => undefined)
      return answer?.statusCode ?? 0
    },
  }
}

describe('a download from storage', () => {
  test('that has begun ends with its session, and the next is refused', async () => {
    await storeLargeFile()
    const other = await people.signUp('Ben')
    const url = `${alcove.url}/storage/v1/object/documents/${key}`
    const [first, second] = [await beginReading(url, headersOf(person)), await beginReading(url, headersOf(person))]
    await signOut()
    await expect(first()).rejects.toThrow()
    await expect(second()).rejects.toThrow()
    for (const refused of [person, other]) expect((await fetch(url, { headers: headersOf(refused) })).status).toBe(400)
  })

  test.each([
    { by: 'is disabled', end: disable },
    { by: 'is deleted', end: deleteAccount },
  ])('by a signed link ends when its signer’s account $by, also without a session', async ({ end }) => {
    await storeLargeFile()
    const signed = await person.client.storage.from('documents').createSignedUrl(key, 600)
    const url = signed.data?.signedUrl ?? ''
    await signOut()
    const reading = await beginReading(url)
    await end()
    await expect(reading()).rejects.toThrow()
    expect((await fetch(url)).status).toBe(400)
  })
})

describe('an upload', () => {
  const storedOf = async (): Promise<number> =>
    (
      await admin.query(
        'select id from storage.objects where owner_id = $1 union all select id from documents where owner = $2',
        [person.id, person.id],
      )
    ).rowCount ?? 0
  const file = Buffer.alloc(300_000, 'a line of text\n')

  test('to storage ends with its session, and nothing of it is stored', async () => {
    const sending = await begin('POST', `/storage/v1/object/documents/${key}`, file, { 'content-type': 'text/plain' })
    await awaitBytes()
    await signOut()
    await sending.closed
    expect(await sending.finish()).not.toBe(200)
    expect(await storedOf()).toBe(0)
  })

  test('of documents ends with its session, and nothing of it is stored', async () => {
    const form = Buffer.concat([
      Buffer.from('--b\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\n'),
      file,
      Buffer.from('\r\n--b--\r\n'),
    ])
    const sending = await begin('POST', '/api/documents', form, { 'content-type': 'multipart/form-data; boundary=b' })
    await awaitBytes()
    await signOut()
    await sending.closed
    expect(await sending.finish()).not.toBe(201)
    expect(await storedOf()).toBe(0)
  })

  test('by a signed link ends when its signer’s account is disabled', async () => {
    const signed = await person.client.storage.from('documents').createSignedUploadUrl(key)
    const route = new URL(signed.data?.signedUrl ?? '').pathname + new URL(signed.data?.signedUrl ?? '').search
    const sending = await begin('PUT', route, file, { 'content-type': 'text/plain', authorization: '' })
    await awaitBytes()
    await disable()
    await sending.closed
    expect(await sending.finish()).not.toBe(200)
    const later = await begin('PUT', route, file, { 'content-type': 'text/plain', authorization: '' })
    expect(await later.finish()).toBe(400)
    expect(await storedOf()).toBe(0)
  })
})

describe('a request whose body arrives after its session has ended', () => {
  const json = { 'content-type': 'application/json' }

  test('changes no account', async () => {
    const sending = await begin('PUT', '/auth/v1/user', JSON.stringify({ password: NEW_PASSWORD }), json)
    await signOut()
    expect(await sending.finish()).toBe(403)
    const login = { email: person.email, password: NEW_PASSWORD }
    expect((await person.client.auth.signInWithPassword(login)).error?.code).toBe('invalid_credentials')
  })

  test('writes no row, sends nothing and signs no link', async () => {
    const id = crypto.randomUUID()
    await person.client.storage.from('documents').upload(key, 'a text', { contentType: 'text/plain' })
    const row = JSON.stringify({ id, title: 'late', model_name: 'alcove-reader' })
    const message = { topic: `conversation:${id}`, event: 'e', payload: {}, private: true }
    const sendings = await Promise.all([
      begin('POST', '/rest/v1/conversations', row, json),
      begin('POST', '/api/conversations', row, json),
      begin('PATCH', '/api/documents/queue', JSON.stringify({ paused: true }), json),
      begin('POST', `/storage/v1/object/sign/documents/${key}`, JSON.stringify({ expiresIn: 600 }), json),
      begin('POST', '/realtime/v1/api/broadcast', JSON.stringify({ messages: [message] }), json),
    ])
    await signOut()
    const statuses = await Promise.all(sendings.map((sending) => sending.finish()))
    expect(statuses).toEqual([401, 401, 401, 400, 401])
    const { rows } = await admin.query('select id from conversations where uid = $1', [person.id])
    expect(rows).toEqual([])
  })
})

describe('a request whose statement runs', () => {
  /** Resolves once the statement has renamed the conversation, and sleeps. */
  async function beginRenaming(author: SignedUp, conversation: string) {
    const renamed = fetch(`${alcove.url}/rest/v1/rpc/rename_slowly`, {
      method: 'POST',
      headers: { ...headersOf(author), 'content-type': 'application/json' },
      body: JSON.stringify({ conversation }),
    })
    const sleeping = () =>
      admin.query(`select from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()`)
    await expect.poll(async () => (await sleeping()).rowCount).toBe(1)
    return { renamed, isOver: () => expect.poll(async () => (await sleeping()).rowCount).toBe(0) }
  }

  async function titleOf(conversation: string): Promise<string | undefined> {
    const read = 'select title from conversations where id = $1'
    return (await admin.query<{ title: string }>(read, [conversation])).rows[0]?.title
  }

  test('is refused, and changes nothing, when its session ends', async () => {
    const conversation = await people.startConversation(person, null)
    const { renamed, isOver } = await beginRenaming(person, conversation)
    await signOut()
    expect((await renamed).status).toBe(401)
    await isOver()
    expect(await titleOf(conversation)).toBe('Lamps')
  })

  test('is refused, and changes nothing, when its person is removed from the space', async () => {
    const member = await people.signUp('Ben')
    const space = await people.createSpace(person, 'Lighthouse')
    await people.join(person, member, space, 'editor')
    const conversation = await people.startConversation(member, space)
    const { renamed, isOver } = await beginRenaming(member, conversation)
    await person.client.from('space_members').delete().match({ space_id: space, user_id: member.id }).throwOnError()
    const answer = await renamed
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([504, '1'])
    await isOver()
    expect(await titleOf(conversation)).toBe('Lamps')
  })
})

test('every request after the answer to a sign-out is refused', async () => {
  for (let round = 0; round < 10; round += 1) {
    const one = await people.signUp('Cora')
    const read = () => fetch(`${alcove.url}/rest/v1/conversations?limit=1`, { headers: headersOf(one) })
    expect((await read()).status).toBe(200)
    await fetch(`${alcove.url}/auth/v1/logout`, { method: 'POST', headers: headersOf(one) })
    expect(await Promise.all([read(), read()].map(async (sent) => (await sent).status))).toEqual([401, 401])
  }
})

test('a request without a token is refused before its body has arrived', async () => {
  const routes = ['/api/conversations', '/rest/v1/conversations', '/realtime/v1/api/broadcast', `/storage/v1/object/sign/documents/${key}`] // prettier-ignore
  const statuses = routes.map(
    (route) =>
      new Promise<number | undefined>((resolve, reject) => {
        const headers = { 'content-type': 'application/json', 'content-length': 100_000 }
        const sent = request(alcove.url + route, { method: 'POST', headers }, (answer) => {
          resolve(answer.statusCode)
          sent.destroy()
        })
        sent.once('error', reject)
        sent.write('{')
      }),
  )
  expect(await Promise.all(statuses)).toEqual([401, 401, 401, 400])
})
