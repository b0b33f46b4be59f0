import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import sharp from 'sharp'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { UPLOAD_TYPES } from '#contract/file-types.ts'
import { createDiskStore } from '#server/blobs/disk.ts'
import type { BlobStore } from '#server/blobs/store.ts'
import { createPictureView } from '#server/documents/picture-view.ts'
import { createStubProviders, openTestAssistant, type Person, STUB_MODEL } from '#test/assistant.ts'

const { db, stub, assistant } = await openTestAssistant({ tokens: 5 })
let person: Person
let folder: string
let blobs: BlobStore

/** Every added picture contains EXIF data: the camera and the location. */
const CAMERA = 'Camera of the person'
const COMPATIBLE = 'openai-compatible/gpt-4o'

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'alcove-pictures-'))
  blobs = createDiskStore(folder)
  await db.admin.query(
    `insert into models (name, version, model_identifier, provider, family, context_window, sees)
     values ('seeing', '1', $1, 'OpenAI-compatible', 'stub', 32000, true),
       ('narrow', '1', 'openai-compatible/narrow', 'OpenAI-compatible', 'stub', 4000, true)`,
    [COMPATIBLE],
  )
})
beforeEach(async () => {
  person = await db.createPerson()
  await assistant.startWorker({ providersOf: createStubProviders(stub), viewPicture: createPictureView(blobs) })
})
afterAll(() => rm(folder, { recursive: true }))

interface Picture {
  readonly width?: number
  readonly height?: number
  /** The recognised text. */
  readonly text?: string
  readonly bytes?: Buffer
}

async function addPicture(
  { sub }: Person,
  filename: string,
  { width = 3_000, height = 2_000, text = '', bytes }: Picture = {},
): Promise<string> {
  const drawn = sharp({ create: { width, height, channels: 3, background: '#336699' } })
    .withExif({ IFD0: { Model: CAMERA }, IFD3: { GPSLatitude: '47/1 22/1 0/1', GPSLatitudeRef: 'N' } })
    .png()
  const { id, size } = await blobs.put(Readable.from([bytes ?? (await drawn.toBuffer())]))
  const { rows } = await db.admin.query<{ id: string }>(
    `insert into documents (owner, filename, originalname, mimetype, size, path, sha256, state, pages, pages_done)
     values ($1, $2, $2, $3, $4, $5, $6, $7, 1, 1) returning id`,
    [sub, filename, UPLOAD_TYPES.png, size, id, randomUUID(), text === '' ? 'failed' : 'ready'],
  )
  const documentId = rows[0]?.id ?? ''
  if (text !== '')
    await db.admin.query('insert into document_pages (document_id, owner, page, text) values ($1, $2, 1, $3)', [
      documentId,
      sub,
      text,
    ])
  return documentId
}

/** The bytes of a document as uploaded. */
async function blobText(documentId: string): Promise<string> {
  const { rows } = await db.admin.query<{ path: string }>('select path from documents where id = $1', [documentId])
  const parts: Buffer[] = []
  for await (const part of await blobs.open(rows[0]?.path ?? '')) parts.push(Buffer.from(part as Uint8Array))
  return Buffer.concat(parts).toString('latin1')
}

/** Resolves with the request that the model received and the stored answer. */
async function ask(content: string, given: { model?: string; metadata?: object; conversationId?: string } = {}) {
  const { model = COMPATIBLE, metadata = {} } = given
  const conversationId = given.conversationId ?? (await assistant.startConversation(person, { model, title: 't' }))
  const watched = await assistant.watch(conversationId)
  await db.database.asUser(person, (scope) =>
    scope.query('insert into messages (conversation_id, content, sender_role, metadata) values ($1, $2, 1, $3)', [
      conversationId,
      content,
      JSON.stringify(metadata),
    ]),
  )
  await watched.until('done')
  const answer = (await assistant.messagesIn(person, conversationId)).at(-1)
  const request = JSON.stringify(await stub.lastRequest())
  return { conversationId, request, answer, pictures: picturesIn(request) }
}

/** Base64 JPEGs anywhere in the request. */
const picturesIn = (request: string): Buffer[] =>
  [...request.matchAll(/(?:data:image\/jpeg;base64,|"data":")(\/9j\/[\w+/=]+)/g)].map(([, base64 = '']) =>
    Buffer.from(base64, 'base64'),
  )

test.for([
  ['Anthropic', 'claude-sonnet-5-5', '{"type":"image","source":{"type":"base64","media_type":"image/jpeg","data":"'],
  ['OpenAI', 'gpt-6-astra', '{"type":"input_image","image_url":"data:image/jpeg;base64,'],
  ['OpenAI-compatible', COMPATIBLE, '{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,'],
] as const)('%s: a picture that is named is shown, made smaller, below its name', async ([, model, part]) => {
  const documentId = await addPicture(person, 'photo.png')
  const { request, pictures, answer } = await ask('@knowledge photo.png what is this?', { model })
  expect(request).toContain(part)
  expect(request).toContain('photo.png:')
  const [picture] = pictures
  if (!picture || pictures.length > 1) throw new Error(`${pictures.length} pictures were sent`)
  const { width, height, format, exif } = await sharp(picture).metadata()
  expect({ format, exif }).toEqual({ format: 'jpeg', exif: undefined })
  expect(await blobText(documentId)).toContain(CAMERA)
  expect(picture.toString('latin1')).not.toContain(CAMERA)
  expect(width / height).toBeCloseTo(1.5, 2)
  expect(width * height).toBeLessThanOrEqual(1_150_000)
  expect(Math.max(width, height)).toBeGreaterThan(1_200)
  expect(answer?.metadata?.trace?.notes.join()).toMatch(/^The model was shown photo\.png as a picture of \d+ × \d+/)
  expect(answer?.metadata?.sources).toMatchObject([{ n: 1, documentId, filename: 'photo.png', page: 1 }])
})

test('pictures chosen for the question are shown', async () => {
  const documentId = await addPicture(person, 'photo.png', { width: 60, height: 40 })
  const { pictures } = await ask('What is this?', { metadata: { documentIds: [documentId] } })
  expect(pictures).toHaveLength(1)
})

test('a picture stays with the question that it was attached to, for the questions that follow', async () => {
  await addPicture(person, 'photo.png', { width: 60, height: 40 })
  const { conversationId } = await ask('@knowledge photo.png what is this?')
  const { request, pictures } = await ask('And what colour does it have?', { conversationId })
  expect(pictures).toHaveLength(1)
  expect(request.indexOf('/9j/')).toBeLessThan(request.indexOf('what is this?'))
})

test('a picture that is not named is not shown', async () => {
  await addPicture(person, 'photo.png', { text: 'Departures: Zürich 10:42' })
  const { pictures } = await ask('When does the train to Zürich leave?')
  expect(pictures).toEqual([])
})

test('a model without image input reads the recognised text', async () => {
  await addPicture(person, 'board.png', { text: 'Departures: Zürich 10:42' })
  const { request, pictures } = await ask('@knowledge board.png when does the train leave?', { model: STUB_MODEL })
  expect(pictures).toEqual([])
  expect(request).toContain('Zürich 10:42')
})

test('a model that rejects pictures answers from their text, and the answer says so', async () => {
  await addPicture(person, 'board.png', { text: 'Departures: Zürich 10:42' })
  const { request, pictures, answer } = await ask('@knowledge board.png when? [[stub noimages=1]]')
  expect(pictures).toEqual([])
  expect(request).toContain('Zürich 10:42')
  expect(answer?.metadata?.error).toBeUndefined()
  expect(answer?.metadata?.trace?.notes.at(-1)).toContain('takes no pictures')
})

test('pictures without room in the window are left out, and the answer says so', async () => {
  for (const name of ['one.png', 'two.png']) await addPicture(person, name, { width: 1_200, height: 900 })
  const question = '@knowledge “one.png”, “two.png”: which is older?'
  const { pictures, answer } = await ask(question, { model: 'openai-compatible/narrow' })
  expect(pictures).toHaveLength(1)
  expect(answer?.metadata?.trace?.notes.join()).toContain('There was no room for the picture two.png')
})

test('an invalid picture file is reported, and the question is answered', async () => {
  await addPicture(person, 'broken.png', { bytes: Buffer.from('no picture'), text: 'recognised' })
  const { pictures, answer } = await ask('@knowledge broken.png what is this?')
  expect(pictures).toEqual([])
  expect(answer?.metadata?.trace?.notes.join()).toContain('The picture broken.png could not be opened')
})

test('another person cannot attach a picture by its name or id', async () => {
  const documentId = await addPicture(person, 'photo.png', { text: 'Departures' })
  person = await db.createPerson()
  await addPicture(person, 'own.png', { text: 'Arrivals' })
  const { request, pictures } = await ask('@knowledge photo.png what is this?', {
    metadata: { documentIds: [documentId] },
  })
  expect(pictures).toEqual([])
  expect(request).not.toContain('Departures')
})
