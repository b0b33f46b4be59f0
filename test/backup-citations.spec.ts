/** Citations of documents of every kind open after a restore on exactly the characters that they cite. */
import { createHash, randomUUID } from 'node:crypto'
import { createClient } from '@supabase/supabase-js'
import { expect, onTestFinished, test, vi } from 'vitest'
import { z } from 'zod'
import { UPLOAD_TYPES } from '#contract/file-types.ts'
import { messageRow } from '#contract/message.ts'
import { isPassageSource, type PassageSource } from '#contract/source.ts'
import { type AlcoveProcess, startAlcove } from './alcove.ts'
import { succeed, temporaryPlace } from './backup-command.ts'
import { makeDoc } from './make-doc.ts'
import { makeDocx } from './make-docx.ts'
import { makePdf } from './make-pdf.ts'
import { drawText, makePng } from './make-scan.ts'
import { makeWorkbook } from './make-workbook.ts'
import { copyStartedDataDir } from './started-data.ts'

const PASSWORD = 'a long enough password'
const WAIT_LIMIT = { timeout: 60_000 }
/** Each is asked for once, and each answer cites at least one passage. */
const FACTS = 28
const LEAST_CITATIONS = 200

const COLOURS = ['blue', 'green', 'yellow', 'copper', 'silver', 'striped']
const THINGS = ['cupboard', 'chest', 'gate', 'cabinet', 'drawer', 'trunk']
/** Characters outside of ASCII and of the basic plane: offsets are UTF-16 code units. */
const fact = (place: string, index: number, sign = ''): string =>
  `${sign}Key number ${index + 11} of the ${place} opens the ${COLOURS[index % 6] ?? ''} ${THINGS[Math.floor(index / 6) % 6] ?? ''}.`
const facts = (place: string, sign = '') => Array.from({ length: FACTS }, (_, index) => fact(place, index, sign))

type Kind = keyof typeof UPLOAD_TYPES

/** The place that a file is about, and its bytes. */
const FILES: Readonly<
  Record<Exclude<Kind, 'jpg' | 'jpeg'>, { place: string; make: () => Uint8Array | Promise<Uint8Array> }>
> = {
  pdf: {
    place: 'harbour',
    make: () =>
      makePdf(
        [0, 10, 20].map((from) =>
          facts('harbour')
            .slice(from, from + 10)
            .join('\n'),
        ),
      ),
  },
  doc: {
    place: 'mill',
    make: () =>
      makeDoc([
        {
          text: facts('mill', 'é ')
            .map((text) => `${text}\r`)
            .join(''),
        },
      ]),
  },
  docx: { place: 'school', make: () => makeDocx(facts('school', '𝄞 ').map((paragraph) => ({ paragraph }))) },
  xls: {
    place: 'bakery',
    make: () => makeWorkbook([{ name: 'Keys', rows: facts('bakery', '✓ ').map((text) => [text]) }], 'biff8'),
  },
  xlsx: {
    place: 'library',
    make: () => makeWorkbook([{ name: 'Keys 𝄞', rows: facts('library', '𝄞 ').map((text) => [text]) }]),
  },
  txt: { place: 'station', make: () => Buffer.from(facts('station', '𝄞 ').join('\n\n')) },
  png: { place: 'theatre', make: async () => makePng(await drawText(fact('theatre', 0))) },
}

async function signIn(alcove: AlcoveProcess, email: string) {
  const config = await alcove.config()
  const client = createClient(alcove.url, config.supabaseAnonKey, { auth: { persistSession: false } })
  const { data } = await client.auth.signInWithPassword({ email, password: PASSWORD })
  const signedIn = data.session ? data : (await client.auth.signUp({ email, password: PASSWORD })).data
  if (!signedIn.session || !signedIn.user) throw new Error('no session')
  const headers = { authorization: `Bearer ${signedIn.session.access_token}` }
  const read = (path: string) => fetch(`${alcove.url}/api/documents${path}`, { headers })
  return { client, headers, userId: signedIn.user.id, read }
}
type Person = Awaited<ReturnType<typeof signIn>>

async function upload({ client, headers }: Person, url: string): Promise<void> {
  const form = new FormData()
  for (const [kind, { place, make }] of Object.entries(FILES)) {
    const bytes = Buffer.from(await make())
    form.append('files', new Blob([bytes], { type: UPLOAD_TYPES[kind as Kind] }), `${place}.${kind}`)
  }
  const response = await fetch(`${url}/api/documents`, { method: 'POST', headers, body: form })
  expect(response.status).toBe(201)
  await vi.waitFor(async () => {
    const { data } = await client.from('documents').select('filename, state')
    expect(data?.filter(({ state }) => state !== 'ready')).toEqual([])
    expect(data).toHaveLength(Object.keys(FILES).length)
  }, WAIT_LIMIT)
}

async function ask({ client, userId }: Person, place: string, count: number): Promise<void> {
  const conversation = randomUUID()
  const { error } = await client
    .from('conversations')
    .insert({ id: conversation, uid: userId, title: place, model_name: 'alcove-reader' })
  expect(error).toBeNull()
  for (let index = 0; index < count; index += 1) {
    const content = `What does key number ${index + 11} of the ${place} open?`
    const asked = await client.from('messages').insert({ conversation_id: conversation, content, sender_role: 1 })
    expect(asked.error).toBeNull()
  }
  await vi.waitFor(async () => {
    const answers = client.from('messages').select('id').eq('conversation_id', conversation).eq('sender_role', 2)
    expect((await answers).data).toHaveLength(count)
  }, WAIT_LIMIT)
}

const pageText = z.looseObject({ text: z.string() })

interface Opened {
  /** Identifies the marker that is clicked: the answer and its number. */
  readonly citation: string
  readonly source: PassageSource
  /** Characters of the page at the source and at each of its markers. */
  readonly characters: readonly string[]
}

/** Opens every citation as the page does: the document's row, the text of the cited page, and its characters. */
async function openCitations({
  client,
  read,
}: Person): Promise<{ opened: Opened[]; documents: unknown[]; files: Record<string, string> }> {
  const messages = z.array(messageRow).parse((await client.from('messages').select().order('position')).data)
  const pages = new Map<string, Promise<string>>()
  const openPage = (address: string) => {
    const known =
      pages.get(address) ?? read(address).then(async (response) => pageText.parse(await response.json()).text)
    pages.set(address, known)
    return known
  }
  const opened: Opened[] = []
  for (const { id, content, metadata } of messages)
    for (const source of metadata?.sources?.filter(isPassageSource) ?? []) {
      if (!content.includes(`[${source.n}]`)) continue
      const text = await openPage(`/${source.documentId}/pages/${source.page}`)
      const ranges = [source, ...(source.cited ?? [])]
      opened.push({
        citation: `${id} ${source.n}`,
        source,
        characters: ranges.map(({ start, end }) => text.slice(start, end)),
      })
    }
  const documents: unknown[] = []
  const files: Record<string, string> = {}
  for (const id of new Set(opened.map(({ source }) => source.documentId))) {
    const response = await read(`/${id}/file`)
    expect(response.status).toBe(200)
    files[id] = createHash('sha256')
      .update(Buffer.from(await response.arrayBuffer()))
      .digest('hex')
    documents.push(await (await read(`/${id}`)).json())
  }
  return { opened, documents, files }
}

async function start(dataDir: string): Promise<AlcoveProcess> {
  const alcove = await startAlcove({ DATA_DIR: dataDir, AUTH_AUTOCONFIRM: 'true', RATE_LIMITS: 'off' })
  onTestFinished(async () => {
    await alcove.end()
  })
  return alcove
}

test('every citation opens after a restore on the characters that it cites', { timeout: 240_000 }, async () => {
  const source = await copyStartedDataDir()
  onTestFinished(source.remove)
  const alcove = await start(source.dataDir)
  const email = `${randomUUID()}@example.test`
  const person = await signIn(alcove, email)
  await upload(person, alcove.url)
  await Promise.all(Object.values(FILES).map(({ place }) => ask(person, place, place === FILES.png.place ? 1 : FACTS)))
  const before = await openCitations(person)
  expect(Object.keys(before.files)).toHaveLength(Object.keys(FILES).length)
  expect(before.opened.length).toBeGreaterThanOrEqual(LEAST_CITATIONS)

  const { folder, dataDir } = await temporaryPlace()
  const { backup } = await succeed('backup', folder, { DATA_DIR: source.dataDir })
  await alcove.end()
  await succeed('restore', backup, { DATA_DIR: dataDir })
  const after = await openCitations(await signIn(await start(dataDir), email))
  expect(after).toEqual(before)
  for (const { source: cited, characters, citation } of after.opened) {
    expect(characters[0], citation).toBe(cited.text)
    for (const text of characters) expect(text, citation).not.toBe('')
  }
})
