import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { READER_MODEL } from '#contract/product-names.ts'
import { isPassageSource } from '#contract/source.ts'
import { addMessage } from '#server/conversations/queries.ts'
import { createStubProviders, openTestAssistant, type Person, STUB_MODEL } from '#test/assistant.ts'
import { addReadDocument, addUnreadDocument } from '#test/library.ts'
import { startRecordingModel } from '#test/recording-model.ts'

const { db, assistant } = await openTestAssistant()
let person: Person

const ENGLISH = 'The tenant pays the deposit of two months to the landlord before the keys of the flat are handed over.'
const GERMAN = 'Der Mieter zahlt die Kaution an den Vermieter, und der Vermieter gibt ihm die Schlüssel der Wohnung.'
const JAPANESE = '借主は鍵を受け取る前に、貸主に二か月分の敷金を支払います。'
const PASSWORD = 'This file is protected with a password. Remove the password and upload it again.'

interface Changes {
  readonly mimetype?: string
  readonly size?: number
  readonly uploadedAt?: Date
}

async function change(documentId: string, { mimetype, size, uploadedAt }: Changes): Promise<void> {
  await db.database.asService((scope) =>
    scope.query(
      `update documents set mimetype = coalesce($2, mimetype), size = coalesce($3, size),
         uploaded_at = coalesce($4, uploaded_at) where id = $1`,
      [documentId, mimetype, size, uploadedAt],
    ),
  )
}

async function addFailed(owner: Person, filename: string): Promise<void> {
  const { id } = await addUnreadDocument(db.database, owner, filename)
  const error = JSON.stringify({ code: 'encrypted', message: PASSWORD })
  await db.database.asService((scope) =>
    scope.query(`update documents set state = 'failed', error = $2 where id = $1`, [id, error]),
  )
}

beforeEach(async () => {
  person = await db.createPerson()
  const lease = await addReadDocument(db.database, person, 'lease_mill-lane.pdf', [ENGLISH, 'Second page.', 'Third.'])
  await change(lease.documentId, { mimetype: 'application/pdf', size: 5_000_000 })
  await addReadDocument(db.database, person, 'Mietvertrag.txt', [GERMAN])
  await addReadDocument(db.database, person, '契約書.txt', [JAPANESE])
  const sheet = await addReadDocument(db.database, person, 'budget.xls', ['Budget\nItem\tAmount\nHarbour\t12'])
  await change(sheet.documentId, { mimetype: 'application/vnd.ms-excel', uploadedAt: new Date(2025, 4, 7, 12) })
  await addFailed(person, 'secret.pdf')
  const stranger = await db.createPerson()
  await addReadDocument(db.database, stranger, 'stranger.txt', [ENGLISH, JAPANESE])
  await addFailed(stranger, 'stranger-secret.pdf')
})

async function ask(
  question: string,
  given: { conversationId?: string; model?: string; documentIds?: readonly string[]; timeZone?: unknown } = {},
) {
  const conversationId =
    given.conversationId ??
    (await assistant.startConversation(person, { model: given.model ?? READER_MODEL, title: 'Library' }))
  const watched = await assistant.watch(conversationId)
  const metadata = { documentIds: given.documentIds, timeZone: given.timeZone }
  await db.database.asUser(person, (scope) => addMessage(scope, conversationId, { content: question, metadata }))
  await watched.until('done')
  const answer = (await assistant.answersIn(person, conversationId)).at(-1)
  const sources = (answer?.metadata?.sources ?? []).filter(isPassageSource)
  return { conversationId, content: answer?.content ?? '', metadata: answer?.metadata, sources }
}

test('the Reader counts the documents of the person alone', async () => {
  await assistant.startWorker()
  const { content, sources } = await ask('How many documents do I have?')
  expect(content).toBe('You have 5 documents: 4 can be searched, 1 could not be read. By type: 3 Text, 1 PDF, 1 Excel.')
  expect(sources).toEqual([])
})

test('days are those of the time zone that the question names', async () => {
  const { documentId } = await addReadDocument(db.database, person, 'early.txt', [ENGLISH])
  await change(documentId, { uploadedAt: new Date('2024-05-02T22:30:00Z') })
  await assistant.startWorker()
  const addedOn = async (day: string, timeZone: unknown) =>
    (await ask(`Which documents were added on ${day} 2024?`, { timeZone })).content
  const found = (day: string) =>
    `**Added on ${day} 2024:** 1 of your 6 documents.\n\n- early.txt, added on ${day} 2024 [1]`
  expect(await addedOn('3 May', 'Asia/Tokyo')).toBe(found('3 May'))
  expect(await addedOn('2 May', 'Asia/Tokyo')).toBe('**Added on 2 May 2024:** none of your 6 documents.')
  expect(await addedOn('2 May', 'America/New_York')).toBe(found('2 May'))
  for (const unknown of ['Mars/Olympus', 'x'.repeat(500), { of: 'Tokyo' }])
    expect(await addedOn('1 May', unknown)).toBe('**Added on 1 May 2024:** none of your 6 documents.')
})

test('the Reader names documents with markers that open them, in the order of their names', async () => {
  await assistant.startWorker()
  const { content, sources } = await ask('Which documents do I have?')
  expect(content.split('\n').filter((line) => line.startsWith('- '))).toEqual([
    '- budget.xls [1]',
    '- lease_mill-lane.pdf [2]',
    '- Mietvertrag.txt [3]',
    `- secret.pdf: ${PASSWORD} [4]`,
    '- 契約書.txt [5]',
  ])
  expect(sources.map(({ n, filename, page, text }) => [n, filename, page, text])).toEqual([
    [1, 'budget.xls', 1, expect.stringContaining('Harbour')],
    [2, 'lease_mill-lane.pdf', 1, ENGLISH],
    [3, 'Mietvertrag.txt', 1, GERMAN],
    [4, 'secret.pdf', 1, PASSWORD],
    [5, '契約書.txt', 1, JAPANESE],
  ])
})

test.each<[string, string]>([
  [
    'Which of my files could not be read, and why?',
    `**Could not be read:** 1 of your 5 documents.\n\n- secret.pdf: ${PASSWORD} [1]`,
  ],
  ['Welche meiner Dateien sind Excel-Tabellen?', '**Excel files:** 1 of your 5 documents.\n\n- budget.xls [1]'],
  ['Which documents are in Japanese?', '**In Japanese:** 1 of your 5 documents.\n\n- 契約書.txt [1]'],
  ['Welche Dokumente sind auf Deutsch?', '**In German:** 1 of your 5 documents.\n\n- Mietvertrag.txt [1]'],
  ['Which documents are in French?', '**In French:** none of your 5 documents.'],
  ['What is the biggest file?', '**Largest:** lease_mill-lane.pdf, 4.8 MB [1]'],
  ['Which of my documents has the most pages?', '**Most pages:** lease_mill-lane.pdf, 3 pages [1]'],
  [
    'Which documents were added in May 2025?',
    '**Added from 1 May 2025 to 31 May 2025:** 1 of your 5 documents.\n\n- budget.xls, added on 7 May 2025 [1]',
  ],
  [
    'Do I have a file called lease_mill-lane.pdf?',
    '**Named “lease_mill-lane.pdf”:** 1 of your 5 documents.\n\n- lease_mill-lane.pdf [1]',
  ],
  ['Do I have a file called stranger.txt?', '**Named “stranger.txt”:** none of your 5 documents.'],
  ['How many pages does lease_mill-lane.pdf have?', 'lease_mill-lane.pdf, 3 pages [1]'],
  ['How many pages do my German documents have?', '**In German:** 1 section in 1 Text file.'],
  ['How many pages do my PDFs have?', '**PDF files:** 3 pages in 1 PDF file.'],
  ['How many pages do my French documents have?', '**In French:** none of your 5 documents.'],
  ['How many pages did I add in May 2025?', '**Added from 1 May 2025 to 31 May 2025:** 1 sheet in 1 Excel file.'],
  ['How many pages do my documents have?', '6 sections, pages and sheets in all'],
])('%s', async (question, expected) => {
  await assistant.startWorker()
  const { content } = await ask(question)
  if (expected.endsWith('in all')) expect(content).toMatch(/^6 [a-z, ]+ and [a-z]+ in all: /)
  else expect(content).toBe(expected)
})

test('documents about a subject open at the passage that fits best', async () => {
  const page = Array.from({ length: 30 }, (_, index) => `Paragraph ${index} speaks of the weather at sea.`).join('\n\n')
  await addReadDocument(db.database, person, 'manual.txt', [page, `${page}\n\nThe lighthouse keeper lights the lamp.`])
  await assistant.startWorker()
  const { content, sources, metadata } = await ask('Which documents mention the lighthouse keeper?')
  expect(content).toContain('- manual.txt [1]')
  expect(content).not.toContain('budget')
  expect(sources).toMatchObject([{ filename: 'manual.txt', page: 2 }])
  expect(metadata?.trace).toMatchObject({ query: 'the lighthouse keeper' })
})

test('a text in one language behind a preface in another one is in the former', async () => {
  const preface = Array.from({ length: 5 }, () => ENGLISH.repeat(5))
  await addReadDocument(db.database, person, 'novel.txt', [...preface, ...preface.map(() => JAPANESE.repeat(40))])
  await assistant.startWorker()
  expect((await ask('Which documents are in Japanese?')).content).toContain('novel.txt')
})

test('more documents than are named are counted', async () => {
  for (let index = 0; index < 52; index += 1) await addUnreadDocument(db.database, person, `scan ${index}.pdf`)
  await assistant.startWorker()
  const { content, metadata } = await ask('Which documents do I have?')
  expect(content).toContain('You have 57 documents: 4 can be searched, 52 are not read yet, 1 could not be read.')
  expect(content.match(/^- .*\[\d+\]$/gm)).toHaveLength(50)
  expect(content).toContain('\n- and 7 more')
  expect(metadata).not.toHaveProperty('unread')
})

test('a question continues one about the library', async () => {
  await assistant.startWorker()
  const { conversationId } = await ask('How many documents do I have?')
  const { content } = await ask('And which ones could not be read?', { conversationId })
  expect(content).toContain('- secret.pdf')
})

test('@knowledge answers about the library too, as a tool run', async () => {
  await assistant.startWorker()
  const { content } = await ask('@knowledge How many documents do I have?')
  expect(content).toContain('You have 5 documents')
})

test('a model is told the exact numbers and the names, and can cite each document', async () => {
  const model = await startRecordingModel(() => 'harbour')
  onTestFinished(() => model.stop())
  await assistant.startWorker({ providersOf: createStubProviders(model) })
  const { sources } = await ask('Which of my files could not be read, and why?', { model: STUB_MODEL })
  const { text } = model.lastSent()
  expect(text).toContain('You have 5 documents: 4 can be searched, 1 could not be read.')
  expect(text).toContain(`- secret.pdf: ${PASSWORD} [1]`)
  expect(text).toContain('lease_mill-lane.pdf')
  expect(text).toContain('<source n="1" file="secret.pdf" page="1">')
  expect(text).not.toContain('stranger')
  expect(sources).toMatchObject([{ filename: 'secret.pdf' }])
})

test('a model is told the names for a question that only concerns the library, and not for others', async () => {
  const model = await startRecordingModel(() => 'harbour')
  onTestFinished(() => model.stop())
  await assistant.startWorker({ providersOf: createStubProviders(model) })
  await ask('Which of my files should I read first?', { model: STUB_MODEL })
  expect(model.lastSent().text).toContain('budget.xls\n')
  expect(model.lastSent().text).not.toContain('stranger')
  await ask('Who pays the deposit to the landlord?', { model: STUB_MODEL })
  expect(model.lastSent().text).not.toContain('<library>')
})

test('a model that is asked about chosen documents is not told the names of others', async () => {
  const model = await startRecordingModel(() => 'harbour')
  onTestFinished(() => model.stop())
  const { documentId } = await addReadDocument(db.database, person, 'chosen.txt', [ENGLISH])
  await assistant.startWorker({ providersOf: createStubProviders(model) })
  await ask('Which of my files should I read first?', { model: STUB_MODEL, documentIds: [documentId] })
  expect(model.lastSent().text).toContain('chosen.txt')
  expect(model.lastSent().text).not.toContain('budget.xls')
})
