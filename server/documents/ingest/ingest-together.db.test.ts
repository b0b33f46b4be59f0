import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { DocumentRow } from '#contract/document.ts'
import { UPLOAD_TYPES } from '#contract/file-types.ts'
import { createLog } from '#server/base/log.ts'
import { createDiskStore } from '#server/blobs/disk.ts'
import type { BlobStore } from '#server/blobs/store.ts'
import { readOwnUsage, setQuotas } from '#server/database/quotas.ts'
import { pauseReading, resumeReading } from '#server/documents/store/ingestion.ts'
import { deleteDocument, getDocument, insertDocument } from '#server/documents/store/library.ts'
import { installJobs } from '#server/jobs/install.ts'
import { startJobs } from '#server/jobs/start.ts'
import { createReusedParsers, type ReusedParsers } from '#server/parsing/sandbox/reused-parsers.ts'
import { searchPassages } from '#server/search/search.ts'
import { createTestDatabase, type TestDatabase } from '#test/database.ts'
import { jobRun } from '#test/job-run.ts'
import { makePdf } from '#test/make-pdf.ts'
import { drawText, makeScannedPdf } from '#test/make-scan.ts'
import { createDocumentJobs, enqueueIngest, INGEST_JOB, INGEST_TOGETHER_JOB, type IngestParts } from './ingest-job.ts'

type Person = Awaited<ReturnType<TestDatabase['createPerson']>>

const log = createLog('silent')
let test_: TestDatabase
let dataDir: string
let blobs: BlobStore
let reusedParsers: ReusedParsers
let person: Person
let stranger: Person

beforeAll(async () => {
  test_ = await createTestDatabase()
  dataDir = await mkdtemp(path.join(tmpdir(), 'alcove-together-'))
  blobs = createDiskStore(dataDir)
  reusedParsers = createReusedParsers()
  await installJobs(test_.adminConnection)
})
beforeEach(async () => {
  person = await test_.createPerson()
  stranger = await test_.createPerson()
})
afterAll(async () => {
  reusedParsers.stop()
  await test_.drop()
  await rm(dataDir, { recursive: true })
})

async function store(text: string | Buffer, owner = person, name = 'note.txt', series?: string): Promise<string> {
  const bytes = Buffer.from(text)
  const { id: blob, size } = await blobs.put(Readable.from([bytes]))
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const given = {
    owner: owner.sub,
    name,
    mimetype: name.endsWith('.pdf') ? UPLOAD_TYPES.pdf : UPLOAD_TYPES.txt,
    size,
    path: blob,
    sha256,
  }
  const document = await test_.database.asService((scope) =>
    insertDocument(scope, { ...given, ...(series === undefined ? {} : { series }) }),
  )
  return document?.id ?? ''
}

/** Runs one batch; returns the documents that it left to be read by themselves. */
async function run(
  ids: readonly string[],
  { signal, ...parts }: Partial<IngestParts> & { signal?: AbortSignal } = {},
): Promise<string[]> {
  const handlers = createDocumentJobs({ database: test_.database, blobs, log, reusedParsers, ...parts })
  const left: string[] = []
  const data = ids.map((documentId) => ({ documentId }))
  await handlers[INGEST_TOGETHER_JOB]?.batch?.run(
    data,
    jobRun(signal, (name, { key }) => {
      expect(name).toBe(INGEST_JOB)
      left.push(key)
    }),
  )
  return left
}

const read = (id: string, owner = person): Promise<DocumentRow> =>
  test_.database.asUser(owner, (scope) => getDocument(scope, id))
const triesOf = async (id: string) =>
  (await test_.admin.query<{ state: string; tries: number }>('select state, tries from documents where id = $1', [id]))
    .rows[0]
const search = (question: string, owner = person) =>
  test_.database.asUser(owner, (scope) => searchPassages(scope, question))
const segmentsOf = async (owner = person) =>
  (await test_.admin.query('select from search_segments where owner = $1', [owner.sub])).rowCount

describe('small documents', () => {
  test('that are paused while they are read stay unread until they may be read again', async () => {
    const ids = [await store('A note about zebras.'), await store('A note about lanterns.')]
    let pausing: Promise<void> | undefined
    const left = await run(ids, {
      onStage(stage) {
        if (stage === 'claimed')
          pausing ??= test_.database.asService((scope) =>
            pauseReading(scope, { library: person.sub, addedBy: person.sub }),
          )
      },
    })
    await pausing
    expect(left).toEqual(ids)
    for (const id of ids) expect(await triesOf(id)).toEqual({ state: 'paused', tries: 0 })
    expect(await run(ids)).toEqual(ids)
    await test_.database.asService((scope) => resumeReading(scope, { library: person.sub, addedBy: person.sub }))
    const handlers = createDocumentJobs({ database: test_.database, blobs, log, reusedParsers })
    for (const documentId of ids) await handlers[INGEST_JOB]?.run({ documentId }, jobRun(undefined))
    for (const id of ids) expect((await read(id)).state).toBe('ready')
  })

  test('of one person enter the index as one segment, and each is found as itself', async () => {
    const ids: string[] = []
    for (let n = 0; n < 12; n += 1)
      ids.push(await store(`Note ${n} speaks of zebra${n} and of the common word lantern.`, person, `note-${n}.txt`))
    expect(await run(ids)).toEqual([])
    expect(await segmentsOf()).toBe(1)
    for (const [n, id] of ids.entries()) {
      expect(await read(id)).toMatchObject({ state: 'ready', pages: 1, pages_done: 1, error: null })
      const [best] = await search(`where is zebra${n}`)
      expect(best).toMatchObject({ documentId: id, filename: `note-${n}.txt`, page: 1 })
      expect(best?.text).toContain(`zebra${n} `)
    }
    expect(new Set((await search('lantern')).map(({ documentId }) => documentId)).size).toBeGreaterThan(5)
    expect(await search('lantern', stranger)).toEqual([])
    await expect(read(ids[0] ?? '', stranger)).rejects.toMatchObject({ code: 'not_found' })
  })

  test('in PDF share them too; one that is a picture is left to be recognised by itself', async () => {
    const picture = await drawText('The ferry leaves at noon.')
    const [first, scan, second] = [
      await store(makePdf(['The first report speaks of zebras.', 'And of lanterns.']), person, 'first.pdf'),
      await store(makeScannedPdf([{ picture }]), person, 'scan.pdf'),
      await store(makePdf(['The second report speaks of ferries.']), person, 'second.pdf'),
    ]
    const queues: string[] = []
    for (const id of [first, scan, second])
      enqueueIngest({ enqueue: (name) => queues.push(name) }, { ...(await read(id)), attempt: 0 }, 0)
    expect(new Set(queues)).toEqual(new Set([INGEST_TOGETHER_JOB]))
    expect(await run([first, scan, second])).toEqual([scan])
    expect(await segmentsOf()).toBe(1)
    expect(await read(first)).toMatchObject({ state: 'ready', pages: 2, pages_done: 2 })
    expect(await read(second)).toMatchObject({ state: 'ready', pages: 1 })
    expect(await triesOf(scan)).toEqual({ state: 'queued', tries: 0 })
  })

  test('in two languages are stemmed each in its own', async () => {
    const german = await store(
      'Die Kündigungen der Verträge müssen schriftlich erfolgen, und die Fristen der Kündigungen sind einzuhalten.',
    )
    const english = await store(
      'The tenants were leaving their houses while the gardens were growing and the rivers were rising over the fields.',
    )
    expect(await run([german, english])).toEqual([])
    expect((await search('Kündigung Vertrag'))[0]?.documentId).toBe(german)
    expect((await search('river rises over the field'))[0]?.documentId).toBe(english)
  })

  test('of two people never share a process, a transaction or a segment', async () => {
    const pids: number[] = []
    const [mine, theirs] = [await store('Mine is a zebra.'), await store('Theirs is a zebra.', stranger)]
    expect(await run([mine, theirs], { onProcess: (pid) => pids.push(pid) })).toEqual([])
    expect(new Set(pids).size).toBe(2)
    expect([await segmentsOf(person), await segmentsOf(stranger)]).toEqual([1, 1])
    expect((await search('zebra')).map(({ documentId }) => documentId)).toEqual([mine])
    expect((await search('zebra', stranger)).map(({ documentId }) => documentId)).toEqual([theirs])
  })

  test('count their shares of the segment, and nothing once they are deleted', async () => {
    const usage = async () => (await test_.database.asUser(person, readOwnUsage)).file_bytes
    const texts = Array.from({ length: 5 }, (_, n) => `The lamp of house ${n} is lit with whale oil every evening.`)
    const together: string[] = []
    for (const text of texts) together.push(await store(text))
    const stored = await usage()
    await run(together)
    const derived = (await usage()) - stored
    const { rows } = await test_.admin.query<{ bytes: string }>(
      'select sum(64 + octet_length(content)) as bytes from search_buckets where owner = $1',
      [person.sub],
    )
    const ofIndex = await test_.admin.query<{ bytes: string }>(
      'select sum(bytes) as bytes from document_index where owner = $1',
      [person.sub],
    )
    const passages = 5 * 160
    expect(Math.abs(Number(ofIndex.rows[0]?.bytes) - passages - Number(rows[0]?.bytes))).toBeLessThan(6)
    expect(derived).toBeGreaterThan(Number(rows[0]?.bytes))
    for (const id of together) await test_.database.asUser(person, (scope) => deleteDocument(scope, id))
    expect(await usage()).toBe(0)
    expect(await segmentsOf()).toBe(0)
  })

  test('that are versions of one another leave the newest one in use', async () => {
    const first = await store('The lamp is lit with whale oil.')
    const { series } = await read(first)
    const second = await store('The lamp is lit with paraffin.', person, 'note.txt', series)
    expect(await run([second, first])).toEqual([])
    expect((await search('what is the lamp lit with')).map(({ documentId }) => documentId)).toEqual([second])
    expect((await read(first)).superseded_at).not.toBeNull()
  })
})

describe('a document of a batch', () => {
  test('that cannot be read is left to be read by itself, without a try, and the others are ready', async () => {
    const good = [await store('A good note.'), await store('Another good note.')]
    const bad = await store(Buffer.from([0, 1, 2, 3, 4, 5, 6, 7, 8]))
    expect(await run([...good, bad])).toEqual([bad])
    for (const id of good) expect((await read(id)).state).toBe('ready')
    expect(await triesOf(bad)).toEqual({ state: 'queued', tries: 0 })
    const handlers = createDocumentJobs({ database: test_.database, blobs, log, reusedParsers })
    await handlers[INGEST_JOB]?.run({ documentId: bad }, jobRun())
    expect(await read(bad)).toMatchObject({ state: 'failed', error: { code: 'damaged' } })
  })

  test('that was begun before is left to be read by itself', async () => {
    const [begun, other] = [await store('It was begun.'), await store('It was not.')]
    await test_.admin.query(`update documents set state = 'reading', attempt = 1, tries = 1 where id = $1`, [begun])
    expect(await run([begun, other])).toEqual([begun])
    expect(await triesOf(begun)).toEqual({ state: 'reading', tries: 1 })
  })

  test('that another attempt overtook or its owner deleted is not written', async () => {
    const [overtaken, deleted, plain] = [await store('Overtaken.'), await store('Deleted.'), await store('Plain.')]
    let isBusy = false
    const left = await run([overtaken, deleted, plain], {
      blobs: {
        ...blobs,
        async open(...given) {
          if (!isBusy) {
            isBusy = true
            await test_.admin.query('update documents set attempt = attempt + 1 where id = $1', [overtaken])
            await test_.database.asUser(person, (scope) => deleteDocument(scope, deleted))
          }
          return blobs.open(...given)
        },
      },
    })
    expect(left.toSorted()).toEqual([overtaken, deleted].toSorted())
    expect(await triesOf(overtaken)).toEqual({ state: 'reading', tries: 1 })
    expect((await read(plain)).state).toBe('ready')
    const pages = await test_.admin.query('select from document_pages where owner = $1', [person.sub])
    expect(pages.rowCount).toBe(1)
  })

  test('whose owner has no room left is left to be refused by itself', async () => {
    const limits = { fileBytesPerPerson: 0, textBytesPerPerson: 0, totalBytes: 0 }
    onTestFinished(() => setQuotas(test_.database, limits))
    const id = await store('There is no room for this.')
    const { file_bytes } = await test_.database.asUser(person, readOwnUsage)
    await setQuotas(test_.database, { ...limits, fileBytesPerPerson: file_bytes - 1 })
    expect(await run([id])).toEqual([id])
    expect(await triesOf(id)).toEqual({ state: 'queued', tries: 0 })
  })
})

test('a batch that the server ends gives its documents back, without a try', async () => {
  const ids = [await store('One.'), await store('Two.')]
  const stopping = new AbortController()
  const ending = run(ids, { signal: stopping.signal, onProcess: () => stopping.abort(new Error('stopping')) })
  await expect(ending).rejects.toThrow('stopping')
  for (const id of ids) expect(await triesOf(id)).toEqual({ state: 'queued', tries: 0 })
})

test("one person's many files do not keep another's single one waiting", async () => {
  const many: string[] = []
  for (let n = 0; n < 150; n += 1) many.push(await store(`Note ${n} of many.`))
  const order: string[] = []
  let hasCome = false
  const allEnded = Promise.withResolvers<undefined>()
  const single = Promise.withResolvers<string>()
  const storeSingle = async () => {
    const documentId = await store('The only note of another person.', stranger)
    jobs.enqueue(INGEST_TOGETHER_JOB, { key: documentId, data: { documentId } })
    return documentId
  }
  const jobs = startJobs({
    connection: test_.connection,
    log,
    handlers: createDocumentJobs({
      database: test_.database,
      blobs,
      log,
      reusedParsers,
      onStage(stage, id) {
        if (stage === 'claimed' && !hasCome) {
          hasCome = true
          storeSingle().then(single.resolve, single.reject)
        }
        if (stage !== 'indexed') return
        order.push(id)
        if (many.every((one) => order.includes(one))) allEnded.resolve(undefined)
      },
    }),
  })
  onTestFinished(() => jobs.stop())
  const [later] = await Promise.all([single.promise, allEnded.promise])
  expect(new Set(order).size).toBe(order.length)
  expect(order).toContain(later)
  expect(many.indexOf(order.at(-1) ?? '')).toBeGreaterThanOrEqual(0)
  // Two batches were being read when it came.
  expect(order.indexOf(later)).toBeLessThanOrEqual(120)
  for (const id of many) expect((await read(id)).state).toBe('ready')
})
