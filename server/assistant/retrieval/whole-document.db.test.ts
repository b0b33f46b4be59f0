import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { UPLOAD_TYPES } from '#contract/file-types.ts'
import { READER_MODEL } from '#contract/product-names.ts'
import type { RetrievalTrace } from '#contract/trace.ts'
import { parseCommands } from '#server/assistant/tools/commands.ts'
import type { Claims } from '#server/database/scope.ts'
import { openTestAssistant } from '#test/assistant.ts'
import { addReadDocument } from '#test/library.ts'
import { findPassages } from './find-passages.ts'

const { db, stub, assistant } = await openTestAssistant()

const PAGES = ['The lamp was lit on 3 May.', 'The keeper left on 7 June.', 'Nobody came back.']

const READER = { model: READER_MODEL }

async function answerTo(
  person: Claims & { sub: string },
  question: string,
  metadata: object = {},
  given?: { model: string },
) {
  const conversationId = await assistant.startConversation(person, given)
  const watched = await assistant.watch(conversationId)
  await db.database.asUser(person, (scope) =>
    scope.query('insert into messages (conversation_id, content, sender_role, metadata) values ($1, $2, 1, $3)', [
      conversationId,
      question,
      JSON.stringify(metadata),
    ]),
  )
  await watched.until('done')
  const answer = (await assistant.messagesIn(person, conversationId)).at(-1)
  return { trace: answer?.metadata?.trace, sources: answer?.metadata?.sources ?? [], answer }
}

const promptOf = async () => JSON.stringify(await stub.lastRequest())

test('a question about a whole document is answered from all of its pages', async () => {
  const person = await db.createPerson()
  await addReadDocument(db.database, person, 'log.pdf', PAGES)
  await addReadDocument(db.database, person, 'other.pdf', ['Something else about lamps.'])
  await assistant.startWorker()
  const { trace } = await answerTo(person, 'Summarise log.pdf')
  expect(trace).toMatchObject({ scope: 'whole', matched: 3 })
  const prompt = await promptOf()
  for (const page of PAGES) expect(prompt).toContain(page)
  expect(prompt).not.toContain('Something else')
})

test('part of a name selects the newest version of a document', async () => {
  const person = await db.createPerson()
  const former = await addReadDocument(db.database, person, 'Lease Mill Lane.docx', ['The rent was low.'])
  await db.admin.query('update documents set superseded_at = now() where id = $1', [former.documentId])
  await addReadDocument(db.database, person, 'Lease Mill Lane.docx', PAGES)
  await addReadDocument(db.database, person, 'Staff list.txt', ['Something else about lamps.'])
  await assistant.startWorker()
  for (const question of ['summarise the lease', 'List all dates in the lease report', 'Summarise lease mill lane']) {
    const { trace } = await answerTo(person, question)
    expect(trace, question).toMatchObject({ scope: 'whole', matched: 3 })
    const prompt = await promptOf()
    for (const page of PAGES) expect(prompt, question).toContain(page)
    expect(prompt).not.toContain('Something else')
    expect(prompt).not.toContain('The rent was low.')
  }
})

test('names of documents are no parts of longer words', async () => {
  const person = await db.createPerson()
  await addReadDocument(db.database, person, 'port.pdf', ['Something else about lamps.'])
  await addReadDocument(db.database, person, 'form.txt', ['Something else about forms.'])
  await addReadDocument(db.database, person, 'Keeper.pdf', PAGES)
  await assistant.startWorker()
  for (const question of ['Summarise the information in the keeper report', 'Summarise the report keeper.pdf']) {
    await answerTo(person, question)
    const prompt = await promptOf()
    expect(prompt, question).toContain('The lamp was lit')
    expect(prompt, question).not.toContain('Something else')
  }
})

test('the extractive answerer quotes the selected document or each of a few, and asks where the choice is unclear', async () => {
  const person = await db.createPerson()
  await addReadDocument(db.database, person, 'other.pdf', ['Something else about lamps.'])
  await addReadDocument(db.database, person, 'log.pdf', PAGES)
  await assistant.startWorker()
  const ask = async (question: string) => (await answerTo(person, question, {}, READER)).answer?.content ?? ''
  const newest = await ask('What are the main points of my newest document?')
  expect(newest).toContain('> The lamp was lit on 3 May. [1]')
  expect(newest).not.toContain('Something else')
  const question = 'What are the most important points in my documents?'
  const both = await ask(question)
  for (const opening of ['The lamp was lit on 3 May.', 'Something else about lamps.']) expect(both).toContain(opening)
  expect(both).not.toContain('Nobody came back.')
  for (const name of ['a', 'b', 'c', 'd'])
    await addReadDocument(db.database, person, `${name}.txt`, [`A word of ${name}.`])
  expect(await ask(question)).toBe('This asks about a whole document. Name the one that you mean, and ask again.')
})

test('a document larger than the window is read in groups, and each page keeps its number', async () => {
  const person = await db.createPerson()
  const pages = Array.from({ length: 12 }, (_, page) => `Page ${page}. ${'The tide rose and fell again. '.repeat(300)}`)
  await addReadDocument(db.database, person, 'tides.pdf', pages)
  await assistant.startWorker()
  const { trace, sources } = await answerTo(person, 'List all dates in tides.pdf')
  expect(trace?.scope).toBe('whole')
  expect(await promptOf()).not.toContain(pages[11])
  for (const source of sources) if ('documentId' in source) expect(source.text.length).toBeLessThanOrEqual(400)
})

test('an answer from a document with too many pages says how far it was read', async () => {
  const person = await db.createPerson()
  const pages = Array.from({ length: 90 }, (_, page) => `Page ${page + 1}. ${'The tide rose. '.repeat(1_400)}`)
  await addReadDocument(db.database, person, 'endless.pdf', pages)
  await assistant.startWorker()
  const { trace, sources } = await answerTo(person, 'List all dates in endless.pdf')
  expect(trace).toMatchObject({ matched: 90, pages: { read: 80, of: 90 } })
  const said = 'Only the first 80 of 90 pages were read'
  expect(trace?.notes.join()).toContain(said)
  expect(await promptOf()).toContain(said)
  expect(sources.length).toBeGreaterThan(0)
  for (const source of sources) if ('page' in source) expect(source.page).toBe(source.n)
})

describe('pages beyond what is read at once', () => {
  /** Six megabytes of text: six of them are read. */
  const BYTES = 6_000_000

  async function addLargeDocument(person: Claims & { sub: string }) {
    const pages = Array.from({ length: 80 }, (_, page) => `Page ${page + 1}. ${'The tide rose. '.repeat(1_400)}`)
    const { documentId } = await addReadDocument(db.database, person, 'endless.pdf', pages)
    await db.admin.query(
      `insert into document_pages (document_id, owner, page, text)
       select $1, $2, page, rpad('Late words. ', $3, 'The tide fell. ') from generate_series(81, 90) as page`,
      [documentId, person.sub, BYTES],
    )
    await assistant.startWorker()
  }

  test('count among those that were not read', async () => {
    const person = await db.createPerson()
    await addLargeDocument(person)
    const { trace } = await answerTo(person, 'List all dates in endless.pdf')
    expect(trace).toMatchObject({ pages: { read: 80, of: 90 } })
    expect(await promptOf()).toContain('Only the first 80 of 90 pages were read')
  })

  test('are told by the extractive answerer too', async () => {
    const person = await db.createPerson()
    await addLargeDocument(person)
    const options = {
      onlyQuotes: true,
      chosen: [],
      earlierQuestions: [],
      turnsInPrompt: { conversationId: randomUUID(), after: 0 },
      hasDocuments: true,
      contextWindow: 8_000,
      room: 8_000,
      embedder: null,
    }
    const find = (question: string) =>
      db.database.asUser(person, async (scope) => (await findPassages(scope, parseCommands(question), options)).trace)
    expect(await find('List all deadlines in endless.pdf')).toMatchObject({ pages: { read: 86, of: 90 } })
    await addReadDocument(db.database, person, 'log.pdf', PAGES)
    const both = '@knowledge summarise endless.pdf @knowledge summarise log.pdf'
    expect(await find(both)).toMatchObject({ pages: { read: 89, of: 93 } })
  })
})

const SMALL = { model: 'openai-compatible/stub:tokens=40' }

beforeAll(async () => {
  await db.admin.query(
    `insert into models (name, version, model_identifier, provider, family, context_window)
     values ('small', '1', $1, 'OpenAI-compatible', 'stub', 8000)`,
    [SMALL.model],
  )
})

test('every page of a Chinese document reaches the model, as notes where the window is small', async () => {
  const person = await db.createPerson()
  const pages = Array.from(
    { length: 8 },
    (_, page) => `第${page + 1}页。${'租金每月一日支付，押金为两个月。'.repeat(60)}`,
  )
  await addReadDocument(db.database, person, 'lease.pdf', pages)
  await assistant.startWorker()
  const { trace } = await answerTo(person, 'Summarise lease.pdf', {}, SMALL)
  expect(trace).toMatchObject({ scope: 'whole', matched: 8 })
  expect(trace).not.toHaveProperty('pages')
  expect(trace?.notes.join()).not.toContain('room for')
  const numbers = [...(await promptOf()).matchAll(/<source n=\\"(\d+)\\"/g)].map(([, n]) => Number(n))
  expect(numbers.at(0)).toBe(1)
  expect(numbers.at(-1)).toBeGreaterThan(6)
})

test('pages that a long question leaves no room for are told to the model and to the person', async () => {
  const person = await db.createPerson()
  const pages = Array.from({ length: 6 }, (_, page) => `Page ${page + 1}. ${'The tide rose and fell. '.repeat(60)}`)
  await addReadDocument(db.database, person, 'tides.pdf', pages)
  await assistant.startWorker()
  const question = `Summarise tides.pdf. ${'I was there for long. '.repeat(600)}`
  const { trace } = await answerTo(person, question, {}, SMALL)
  expect(trace).toMatchObject({ scope: 'whole', matched: 6, pages: { of: 6 } })
  expect(trace?.pages?.read).toBeLessThan(6)
  const said = `Only the first ${trace?.pages?.read} of 6 pages were read`
  expect(trace?.notes.join()).toContain(said)
  expect(await promptOf()).toContain(said)
})

test('only the chosen documents of a question are searched, and small ones are read whole', async () => {
  const person = await db.createPerson()
  const { documentId } = await addReadDocument(db.database, person, 'log.pdf', PAGES)
  await addReadDocument(db.database, person, 'other.pdf', ['The keeper of another place.'])
  await assistant.startWorker()
  const { trace } = await answerTo(person, 'Who is the keeper?', { documentIds: [documentId] })
  expect(trace?.scope).toBe('whole')
  const prompt = await promptOf()
  expect(prompt).toContain('Nobody came back.')
  expect(prompt).not.toContain('another place')
})

test('the extractive answerer quotes every occurrence where all are requested', async () => {
  const person = await db.createPerson()
  const months = ['April', 'May', 'June', 'July', 'August']
  const pages = months.map((month) => `A deadline of the harbour ends in ${month}. Ships come and go all the time.`)
  await addReadDocument(db.database, person, 'log.pdf', pages)
  await assistant.startWorker()
  const { answer } = await answerTo(person, 'List all deadlines in log.pdf', {}, READER)
  for (const month of months) expect(answer?.content).toContain(`> A deadline of the harbour ends in ${month}.`)
  expect(answer?.content).toContain('these are the words of your documents')
})

test('the extractive answerer quotes the sentences with a date where all dates are requested', async () => {
  const person = await db.createPerson()
  await addReadDocument(db.database, person, 'log.pdf', [...PAGES, 'The lamp was lit on 3 May.'])
  await addReadDocument(db.database, person, 'other.pdf', ['Something else happened on 8 June.'])
  await assistant.startWorker()
  const { answer } = await answerTo(person, 'List all dates in the log', {}, READER)
  expect(answer?.content.match(/^> .*/gm)).toEqual([
    '> The lamp was lit on 3 May. [1]',
    '> The keeper left on 7 June. [2]',
  ])
})

test('rows of a whole sheet are cited by the name of the sheet, without a relevance score', async () => {
  const person = await db.createPerson()
  const sheet = 'Cups\n\nTeam | Cups\nBlues | 1\nFlyers | 2'
  const { documentId } = await addReadDocument(db.database, person, 'cups.xlsx', [sheet])
  await db.admin.query('update documents set mimetype = $2 where id = $1', [documentId, UPLOAD_TYPES.xlsx])
  await assistant.startWorker()
  const { sources } = await answerTo(person, 'Summarise cups.xlsx', {}, READER)
  expect(sources.length).toBeGreaterThan(0)
  for (const source of sources) expect(source).toMatchObject({ heading: 'Cups', score: 0 })
})

test('the extractive answerer quotes the answering sentence of a small chosen document', async () => {
  const person = await db.createPerson()
  const { documentId } = await addReadDocument(db.database, person, 'log.pdf', PAGES)
  await addReadDocument(db.database, person, 'other.pdf', ['The keeper of another place left on 8 June.'])
  await assistant.startWorker()
  const beside = await answerTo(person, 'When did the keeper leave?', { documentIds: [documentId] }, READER)
  expect(beside.answer?.content).toContain('> The keeper left on 7 June. [1]')
  expect(beside.answer?.content).not.toContain('lamp')
  const named = await answerTo(person, '@knowledge log.pdf when did the keeper leave?', {}, READER)
  expect(named.answer?.content).toContain('> The keeper left on 7 June. [1]')
  expect(named.answer?.content).not.toContain('lamp')
  const nothingAsked = await answerTo(person, '@knowledge log.pdf', {}, READER)
  expect(nothingAsked.answer?.content).toContain('> The lamp was lit on 3 May. [1]')
})

test('the beginning of a named document has a document type like every search result', async () => {
  const person = await db.createPerson()
  const pages = Array.from({ length: 5 }, (_, page) => `Page ${page}. ${'The tide rose and fell again. '.repeat(100)}`)
  await addReadDocument(db.database, person, 'tides.pdf', pages)
  await assistant.startWorker()
  const { sources } = await answerTo(person, '@knowledge tides.pdf zebras?')
  expect(sources.length).toBeGreaterThan(0)
  for (const source of sources) expect(source).toMatchObject({ filename: 'tides.pdf', mimetype: 'text/plain' })
})

test('documents of another person cannot be chosen', async () => {
  const [person, stranger] = [await db.createPerson(), await db.createPerson()]
  const { documentId } = await addReadDocument(db.database, person, 'log.pdf', PAGES)
  await assistant.startWorker()
  await answerTo(stranger, 'Summarise this document', { documentIds: [documentId] })
  expect(await promptOf()).not.toContain('lamp was lit')
})

test('the retrieval trace of an answer is stored and visible to its owner alone', async () => {
  const [person, stranger] = [await db.createPerson(), await db.createPerson()]
  await addReadDocument(db.database, person, 'log.pdf', PAGES)
  await assistant.startWorker()
  const { trace, answer } = await answerTo(person, 'When was the lamp lit?')
  const expected: Partial<RetrievalTrace> = { scope: 'passages', query: 'When was the lamp lit?', notes: [] }
  expect(trace).toMatchObject(expected)
  expect(trace?.considered[0]).toMatchObject({ filename: 'log.pdf', page: 1, cut: null })
  expect(trace?.considered[0]?.scores.words).toBeGreaterThan(0)
  const seen = await db.database.asUser(stranger, (scope) =>
    scope.query('select from messages where id = $1', [answer?.id]),
  )
  expect(seen.rowCount).toBe(0)
})
