/** Uploads whose form breaks off, or whose bytes cannot be stored, are answered, whatever they hold. */
import { rename, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AlcoveProcess, createDataDir, startAlcove } from '#test/alcove.ts'
import { openSpaceClients, type SignedUp } from '#test/space-clients.ts'

const LARGE_BYTES = 8 * 1024 * 1024

let folder: Awaited<ReturnType<typeof createDataDir>>
let alcove: AlcoveProcess
let person: SignedUp
let apikey: string

beforeAll(async () => {
  folder = await createDataDir()
  alcove = await startAlcove({ DATA_DIR: folder.dataDir, AUTH_AUTOCONFIRM: 'true', LOG_LEVEL: 'warn' })
  person = await (await openSpaceClients(alcove.url)).signUp('Ada')
  apikey = (await alcove.config()).supabaseAnonKey
})
afterAll(async () => {
  await alcove.end('SIGKILL')
  await folder.remove()
})

const part = (field: string, content: string) =>
  `--b\r\nContent-Disposition: form-data; name="${field}"; filename="${field}.txt"\r\n\r\n${content}`

const send = (route: string, body: string, method = 'POST') =>
  fetch(alcove.url + route, {
    method,
    headers: {
      apikey,
      authorization: `Bearer ${person.token}`,
      'content-type': 'multipart/form-data; boundary=b',
    },
    body,
  })

test.each([
  { what: 'a file of another field', body: part('others', 'a text that breaks off') },
  { what: 'a file', body: part('files', 'a text that breaks off') },
  { what: 'a second file', body: `${part('files', 'a text')}\r\n${part('others', 'a text that breaks off')}` },
])('a form that breaks off within $what is bad', async ({ body }) => {
  const documents = await send('/api/documents', body)
  expect([documents.status, documents.headers.get('x-request-id')]).toEqual([400, expect.any(String)])
  const stored = await send(`/storage/v1/object/documents/${person.id}/lamp.txt`, body)
  expect([400, 200]).toContain(stored.status)
  expect((await fetch(`${alcove.url}/healthz`)).status).toBe(200)
})

test('a file that cannot be stored is answered, also while much of it has not arrived', async () => {
  const blobs = path.join(folder.dataDir, 'blobs')
  await rename(blobs, `${blobs}-away`)
  await writeFile(blobs, 'not a folder')
  const form = `${part('files', 'lamp '.repeat(LARGE_BYTES / 5))}\r\n${part('files', 'a text')}\r\n--b--\r\n`
  expect((await send('/api/documents', form)).status).toBe(500)
})
