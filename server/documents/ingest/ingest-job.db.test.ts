import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { DocumentRow } from '#contract/document.ts'
import { UPLOAD_TYPES } from '#contract/file-types.ts'
import { createLog } from '#server/base/log.ts'
import { createDiskStore } from '#server/blobs/disk.ts'
import type { BlobStore } from '#server/blobs/store.ts'
import { readOwnUsage, setQuotas } from '#server/database/quotas.ts'
import { claimDocument, pauseReading, resumeReading } from '#server/documents/store/ingestion.ts'
import {
  deleteDocument,
  getDocument,
  insertDocument,
  listDocuments,
  listVersions,
  renameDocument,
} from '#server/documents/store/library.ts'
import { getPageText } from '#server/documents/store/pages.ts'
import { installJobs } from '#server/jobs/install.ts'
import { startJobs } from '#server/jobs/start.ts'
import { PARSE_LIMITS } from '#server/parsing/sandbox/limits.ts'
import { searchPassages } from '#server/search/search.ts'
import { TOKENIZER_VERSION } from '#server/search/text/tokenizer.ts'
import { createTestDatabase, type TestDatabase } from '#test/database.ts'
import { jobRun } from '#test/job-run.ts'
import { makeDocx } from '#test/make-docx.ts'
import { makePdf } from '#test/make-pdf.ts'
import { drawText, makePng, makeScannedPdf } from '#test/make-scan.ts'
import { makeWorkbook } from '#test/make-workbook.ts'
import { createSpace } from '#test/spaces.ts'
import type { IngestStage } from './attempt.ts'
import { createDocumentJobs, INGEST_JOB, type IngestParts } from './ingest-job.ts'

const log = createLog('silent')
const pages = Array.from({ length: 30 }, (_, index) =>
  `Page ${index + 1}. The code word of this page is zebra${index + 1}. `.repeat(20),
)

let test_: TestDatabase
let dataDir: string
let blobs: BlobStore
let person: Awaited<ReturnType<TestDatabase['createPerson']>>

beforeAll(async () => {
  test_ = await createTestDatabase()
  dataDir = await mkdtemp(path.join(tmpdir(), 'alcove-ingest-'))
  blobs = createDiskStore(dataDir)
  await installJobs(test_.adminConnection)
})

beforeEach(async () => {
  person = await test_.createPerson()
})

afterAll(async () => {
  await test_.drop()
  await rm(dataDir, { recursive: true })
})

async function store(
  bytes: Buffer,
  mimetype: string = UPLOAD_TYPES.pdf,
  name = 'report.pdf',
  series?: string,
): Promise<string> {
  const { id: blob, size } = await blobs.put(Readable.from([bytes]))
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const document = await test_.database.asService((scope) =>
    insertDocument(scope, {
      owner: person.sub,
      name,
      mimetype,
      size,
      path: blob,
      sha256,
      ...(series === undefined ? {} : { series }),
    }),
  )
  return document?.id ?? ''
}

async function run(documentId: string, parts: Partial<IngestParts> & { signal?: AbortSignal } = {}): Promise<void> {
  const { signal, ...rest } = parts
  const handlers = createDocumentJobs({ database: test_.database, blobs, log, ...rest })
  await handlers[INGEST_JOB]?.run({ documentId }, jobRun(signal))
}

const read = (id: string): Promise<DocumentRow> => test_.database.asUser(person, (scope) => getDocument(scope, id))
const search = (question: string) => test_.database.asUser(person, (scope) => searchPassages(scope, question))

async function expectOneWholeSet(id: string, pageCount: number): Promise<void> {
  expect(await read(id)).toMatchObject({ state: 'ready', pages: pageCount, pages_done: pageCount, error: null })
  const { rows } = await test_.admin.query<Record<string, number>>(
    `select (select count(*)::int from document_pages where document_id = $1) as pages,
       (select count(*)::int from passages where document_id = $1) as passages,
       (select count(distinct (page, "start"))::int from passages where document_id = $1) as distinct_passages,
       (select count(*)::int from search_segments where owner = $2) as segments,
       (select count(distinct segment)::int from document_index where owner = $2) as used_segments,
       (select sum(passages)::int from search_segments where owner = $2) as total`,
    [id, person.sub],
  )
  const counts = rows[0] ?? {}
  expect(counts['pages']).toBe(pageCount)
  expect(counts['passages']).toBeGreaterThanOrEqual(pageCount)
  expect(counts['distinct_passages']).toBe(counts['passages'])
  expect(counts['segments']).toBe(counts['used_segments'])
  expect(counts['total']).toBe(counts['passages'])
}

class Crash extends Error {}

/** A job that stops at a stage without reporting, as when its server is killed. */
function crashAt(stage: IngestStage) {
  return (reached: IngestStage) => {
    if (reached === stage) throw new Crash(stage)
  }
}

describe('reading', () => {
  test('makes pages and passages that are found on their page', async () => {
    const id = await store(makePdf(pages))
    await run(id)
    await expectOneWholeSet(id, 30)
    const [best] = await search('Which page has zebra17?')
    expect(best).toMatchObject({
      documentId: id,
      filename: 'report.pdf',
      mimetype: UPLOAD_TYPES.pdf,
      page: 17,
      start: 0,
    })
  })

  test('reads a docx by sections', async () => {
    const id = await store(
      makeDocx([
        { heading: 'Leave' },
        { paragraph: 'Everyone has thirty days.' },
        {
          rows: [
            ['Month', 'Days'],
            ['May', '2'],
          ],
        },
      ]),
      UPLOAD_TYPES.docx,
      'rules.docx',
    )
    await run(id)
    await expectOneWholeSet(id, 1)
    const [found] = await search('how many days in May')
    expect(found?.text).toBe('Leave\n\nEveryone has thirty days.\n\nMonth | Days\nMay | 2')
  })

  test('reads a workbook by sheets, whose rows are found with the titles of their columns', async () => {
    const rows = [['Town', 'Rent'], ...Array.from({ length: 200 }, (_, index) => [`Town ${index}`, 500 + index])]
    const id = await store(makeWorkbook([{ name: 'Rents', rows }]), UPLOAD_TYPES.xlsx, 'rents.xlsx')
    await run(id)
    await expectOneWholeSet(id, 1)
    const [found] = await search('rent of Town 187')
    expect(found?.text).toContain('Town 187 | 687')
    const { rows: passages } = await test_.admin.query<{ heading: string }>(
      'select heading from passages where document_id = $1 order by passage desc limit 1',
      [id],
    )
    expect(passages[0]?.heading).toBe('Rents: Town | Rent')
    const page = await test_.database.asUser(person, (scope) => getPageText(scope, id, 1))
    expect(page.rows?.[1]?.[1]).toBe(2)
  })

  test('recognises scanned pages, and says how well a document could be read', async () => {
    const picture = await drawText('The gardener starts in April.')
    const id = await store(makeScannedPdf([{ text: 'Typed words. '.repeat(20) }, { picture }, { text: '' }]))
    await run(id)
    expect(await read(id)).toMatchObject({
      state: 'ready',
      readability: { pages: 3, by_ocr: 1, unsure: 0, without_text: 1, cut: 0 },
    })
    const [found] = await search('When does the gardener start?')
    expect(found).toMatchObject({ documentId: id, page: 2 })
    const page = await test_.database.asUser(person, (scope) => getPageText(scope, id, 2))
    expect(page.confidence).toBeGreaterThan(80)
    expect(page.boxes?.map(([offset, length]) => page.text.slice(offset, offset + length))).toContain('gardener')
    const stranger = await test_.createPerson()
    await expect(test_.database.asUser(stranger, (scope) => getPageText(scope, id, 2))).rejects.toThrow()
  })

  describe('within a limit on recognised pages', () => {
    afterEach(() => test_.admin.query('update quotas set pages_per_person = 0, pages_total = 0'))

    const limitTo = (perPerson: number, total = 0) =>
      test_.admin.query('update quotas set pages_per_person = $1, pages_total = $2', [perPerson, total])

    async function usedPages(): Promise<number | undefined> {
      const { rows } = await test_.admin.query<{ pages: number }>(
        'select coalesce(sum(pages), 0)::int as pages from usage_events where owner = $1',
        [person.sub],
      )
      return rows[0]?.pages
    }

    test('refuses a scan above it before its first page, and takes none of the day’s pages for it', async () => {
      const picture = await drawText('The gardener starts in April.')
      const long = await store(
        makeScannedPdf([{ text: 'Typed words. '.repeat(20) }, { picture }, { picture }, { picture }]),
      )
      for (const [perPerson, total] of [
        [2, 0],
        [0, 2],
      ] as const) {
        await limitTo(perPerson, total)
        await test_.admin.query(`update documents set state = 'queued', error = null where id = $1`, [long])
        await run(long)
        expect(await read(long)).toMatchObject({ state: 'failed', error: { code: 'page_limit' } })
        expect(await usedPages()).toBe(0)
      }
      await limitTo(2)
      const short = await store(makeScannedPdf([{ picture }, { picture }]), UPLOAD_TYPES.pdf, 'short.pdf')
      await run(short)
      expect(await read(short)).toMatchObject({ state: 'ready', pages: 2 })
      expect(await usedPages()).toBe(2)
    })

    test('a picture whose page was stored before a crash asks for no other page', async () => {
      const id = await store(await makePng(await drawText('The gardener starts in April.')), 'image/png', 'note.png')
      await limitTo(1)
      await expect(run(id, { onStage: crashAt('pages stored') })).rejects.toThrow(Crash)
      expect(await usedPages()).toBe(1)
      await run(id)
      expect(await read(id)).toMatchObject({ state: 'ready', pages: 1, pages_done: 1, error: null })
      expect(await usedPages()).toBe(1)
    })

    test('a document of a space whose adder deleted the account counts for no person, and is read', async () => {
      const space = await createSpace(test_, person)
      const picture = await drawText('The gardener starts in April.')
      const id = await store(makeScannedPdf([{ picture }, { picture }]))
      await test_.admin.query('update documents set space_id = $2, owner = null where id = $1', [id, space])
      await limitTo(1, 1)
      await run(id)
      const { rows } = await test_.admin.query('select state, pages, error from documents where id = $1', [id])
      expect(rows).toEqual([{ state: 'ready', pages: 2, error: null }])
      expect(await usedPages()).toBe(0)
    })
  })

  test('moves the progress while it reads, forward only', async () => {
    await test_.admin.query(`
      create table progress_seen (seq int generated always as identity, pages int, pages_done int);
      create function see_progress() returns trigger language plpgsql security definer as
        $$ begin insert into public.progress_seen (pages, pages_done) values (new.pages, new.pages_done); return null; end $$;
      create trigger see_progress after update on documents for each row execute function see_progress()`)
    onTestFinished(async () => {
      await test_.admin.query('drop trigger see_progress on documents; drop table progress_seen')
    })
    const id = await store(
      makePdf(Array.from({ length: 400 }, (_, index) => `Page ${index}. ${'Many words make a page. '.repeat(60)}`)),
    )
    await run(id)
    const { rows } = await test_.admin.query<{ pages: number | null; pages_done: number }>(
      'select pages, pages_done from progress_seen order by seq',
    )
    const done = rows.map(({ pages_done }) => pages_done)
    expect(done).toEqual(done.toSorted((left, right) => left - right))
    expect([done[0], done.at(-1)]).toEqual([0, 400])
    expect(new Set(rows.slice(2).map(({ pages }) => pages))).toEqual(new Set([400]))
  })
})

test('a pause ends the attempt, which counts as no failure, and the next one reads the document', async () => {
  const id = await store(makePdf(pages))
  let pausing = Promise.resolve()
  await run(id, {
    onStage(stage) {
      if (stage === 'claimed')
        pausing = test_.database.asService((scope) => pauseReading(scope, { library: person.sub, addedBy: person.sub }))
    },
  })
  await pausing
  await run(id)
  const { rows } = await test_.admin.query('select state, tries, attempt from documents where id = $1', [id])
  expect(rows).toEqual([{ state: 'paused', tries: 0, attempt: 1 }])
  expect(
    await test_.database.asService((scope) => resumeReading(scope, { library: person.sub, addedBy: person.sub })),
  ).toMatchObject([{ id }])
  await run(id)
  await expectOneWholeSet(id, 30)
})

describe('a crash', () => {
  for (const stage of ['claimed', 'pages stored', 'parsed', 'indexed'] as const) {
    test(`at "${stage}" leaves one whole set after the next attempt`, async () => {
      const id = await store(makePdf(pages))
      await run(id, { onStage: crashAt(stage) }).catch((error: unknown) => expect(error).toBeInstanceOf(Crash))
      await run(id)
      await expectOneWholeSet(id, 30)
    })
  }

  test('between two batches of pages leaves no page twice', async () => {
    const id = await store(makePdf(pages))
    const claimed = await test_.database.asService((scope) => claimDocument(scope, id))
    expect(claimed?.attempt).toBe(1)
    await test_.admin.query('insert into document_pages (document_id, owner, page, text) values ($1, $2, 1, $3)', [
      id,
      person.sub,
      'half of it',
    ])
    await run(id)
    await expectOneWholeSet(id, 30)
  })

  test('while a scan is read loses no page that was recognised, nor a try', { timeout: 60_000 }, async () => {
    const picture = await drawText('The gardener starts in April.')
    const id = await store(
      makeScannedPdf([{ text: 'Typed words. '.repeat(20) }, { picture }, { picture }, { picture }]),
    )
    const recognised = async () =>
      (
        await test_.admin.query<{ page: number; text: string }>(
          'select page, text from document_pages where document_id = $1 and confidence is not null order by page',
          [id],
        )
      ).rows
    const die = () => test_.database.asService((scope) => claimDocument(scope, id))
    await die()
    await die()
    let batches = 0
    const onStage = (stage: IngestStage) => {
      // The first batch is the page of text.
      if (stage === 'pages stored' && (batches += 1) === 2) throw new Crash()
    }
    await expect(run(id, { ocrProcesses: 1, onStage })).rejects.toThrow(Crash)
    await die()
    await test_.admin.query(
      `update document_pages set text = 'Read before the crash.' where document_id = $1 and confidence is not null`,
      [id],
    )
    const before = await recognised()
    expect(before.length).toBeGreaterThan(0)
    await run(id)
    await expectOneWholeSet(id, 4)
    expect((await recognised()).slice(0, before.length)).toEqual(before)
  })

  test('of the parser process alone is retried, and succeeds', async () => {
    const id = await store(makePdf(pages))
    const killing = run(id, { onProcess: (pid) => process.kill(pid, 'SIGKILL') })
    await expect(killing).rejects.toThrow(/ended early \(SIGKILL\)/)
    expect(await read(id)).toMatchObject({ state: 'reading' })
    await run(id)
    await expectOneWholeSet(id, 30)
  })

  test('in every attempt ends with a reason', async () => {
    const id = await store(makePdf(pages))
    const kill = (pid: number) => {
      process.kill(pid, 'SIGKILL')
    }
    await expect(run(id, { onProcess: kill })).rejects.toThrow()
    await expect(run(id, { onProcess: kill })).rejects.toThrow()
    await run(id, { onProcess: kill })
    expect(await read(id)).toMatchObject({ state: 'failed', error: { code: 'crashed' } })
  })

  test('of the server in every attempt ends with a reason', async () => {
    const id = await store(makePdf(pages))
    for (let death = 0; death < 3; death += 1) await test_.database.asService((scope) => claimDocument(scope, id))
    await run(id)
    expect(await read(id)).toMatchObject({ state: 'failed', error: { code: 'crashed' } })
    expect((await test_.admin.query('select from document_pages where document_id = $1', [id])).rowCount).toBe(0)
  })
})

describe('a newer version', () => {
  const lamp = makePdf(['The lamp is lit with whale oil.'])
  const newer = makePdf(['The lamp is lit with paraffin.'])
  const newest = makePdf(['The lamp is lit with gas.'])

  async function storeVersion(of: string, bytes: Buffer): Promise<string> {
    const { series } = await read(of)
    return store(bytes, UPLOAD_TYPES.pdf, 'another name.pdf', series)
  }
  const searched = async () => (await search('what is the lamp lit with')).map(({ documentId }) => documentId)

  test('is searched from when it is ready, and the older one can still be opened', async () => {
    const first = await store(lamp)
    await run(first)
    const second = await storeVersion(first, newer)
    expect(await searched()).toEqual([first])
    await run(second)
    expect(await searched()).toEqual([second])
    expect(await read(second)).toMatchObject({ version: 2, filename: 'report.pdf', originalname: 'another name.pdf' })
    expect((await read(first)).superseded_at).not.toBeNull()
    const page = await test_.database.asUser(person, (scope) => getPageText(scope, first, 1))
    expect(page.text).toBe('The lamp is lit with whale oil.')
    const listed = JSON.parse(await test_.database.asUser(person, (scope) => listDocuments(scope))) as { id: string }[]
    expect(listed.map(({ id }) => id)).toEqual([second])
  })

  test('that cannot be read leaves the older one in use', async () => {
    const first = await store(lamp)
    await run(first)
    const second = await storeVersion(first, Buffer.from('%PDF-1.7\nnothing more'))
    await run(second)
    expect(await read(second)).toMatchObject({ state: 'failed' })
    expect(await searched()).toEqual([first])
    await test_.database.asUser(person, (scope) => deleteDocument(scope, second))
    expect(await searched()).toEqual([first])
  })

  test('that was slower than the one after it is never searched', async () => {
    const first = await store(lamp)
    await run(first)
    const second = await storeVersion(first, newer)
    const third = await storeVersion(first, newest)
    await run(third)
    await run(second)
    expect(await searched()).toEqual([third])
    const versions = JSON.parse(
      await test_.database.asUser(person, (scope) => listVersions(scope, first)),
    ) as DocumentRow[]
    expect(versions.map(({ id, superseded_at }) => [id, superseded_at === null])).toEqual([
      [third, true],
      [second, false],
      [first, false],
    ])
  })

  test('is renamed and deleted with all the others', async () => {
    const first = await store(lamp)
    await run(first)
    const second = await storeVersion(first, newer)
    await run(second)
    await test_.database.asUser(person, (scope) => renameDocument(scope, second, 'lamps.pdf'))
    expect((await read(first)).filename).toBe('lamps.pdf')
    await test_.database.asUser(person, (scope) => deleteDocument(scope, second))
    for (const table of ['documents', 'document_pages', 'passages', 'document_index', 'search_segments'])
      expect((await test_.admin.query(`select from ${table} where owner = $1`, [person.sub])).rowCount, table).toBe(0)
  })

  test("does not reach into another person's series", async () => {
    const first = await store(lamp)
    await run(first)
    const { series } = await read(first)
    const owner = person
    person = await test_.createPerson()
    const foreign = await store(newer, UPLOAD_TYPES.pdf, 'theirs.pdf', series).catch(() => 'refused')
    expect(foreign).toBe('refused')
    await expect(test_.database.asUser(person, (scope) => listVersions(scope, first))).rejects.toMatchObject({
      code: 'not_found',
    })
    person = owner
    expect(await searched()).toEqual([first])
  })
})

describe('an attempt that is not the newest', () => {
  test('writes nothing any more', async () => {
    const id = await store(makePdf(pages))
    let isOvertaken = false
    let overtaking: Promise<unknown> = Promise.resolve()
    await run(id, {
      onStage(stage) {
        if (stage !== 'claimed' || isOvertaken) return
        isOvertaken = true
        overtaking = run(id)
      },
    })
    await overtaking
    await expectOneWholeSet(id, 30)
  })

  test('ends quietly when the document was deleted meanwhile', async () => {
    const id = await store(makePdf(pages))
    let deleting: Promise<unknown> = Promise.resolve()
    await run(id, {
      onStage(stage) {
        if (stage === 'claimed') deleting = test_.database.asUser(person, (scope) => deleteDocument(scope, id))
      },
    })
    await deleting
    for (const table of ['documents', 'document_pages', 'passages', 'search_segments']) {
      expect((await test_.admin.query(`select from ${table} where owner = $1`, [person.sub])).rowCount, table).toBe(0)
    }
  })

  test('given back by a stopping server does not count', async () => {
    const id = await store(makePdf(pages))
    for (let stop = 0; stop < 4; stop += 1) {
      const stopping = new AbortController()
      await expect(
        run(id, { signal: stopping.signal, onProcess: () => stopping.abort(new Error('stopping')) }),
      ).rejects.toThrow('stopping')
      expect(await read(id)).toMatchObject({ state: 'queued' })
    }
    await run(id)
    await expectOneWholeSet(id, 30)
  })
})

describe('a file that cannot be read', () => {
  const cases: [name: string, bytes: Buffer, mimetype: string, code: string][] = [
    ['empty pages', makePdf(['', '']), UPLOAD_TYPES.pdf, 'no_text'],
    ['half a pdf', Buffer.from('%PDF-1.7\nnothing more'), UPLOAD_TYPES.pdf, 'damaged'],
    ['a zip that is none', Buffer.from('PK\u0003\u0004 and no more'), UPLOAD_TYPES.docx, 'damaged'],
    ['half a picture', Buffer.from('\x89PNG'), UPLOAD_TYPES.png, 'damaged'],
  ]
  for (const [name, bytes, mimetype, code] of cases) {
    test(`says so: ${name}`, async () => {
      const id = await store(bytes, mimetype)
      await run(id)
      const { state, error } = await read(id)
      expect({ state, code: error?.code }).toEqual({ state: 'failed', code })
      expect(error?.message).toMatch(/^[A-Z].*[.?]$/)
    })
  }

  test('is given up at the time limit, and its process is gone', async () => {
    const id = await store(makePdf(pages))
    let child = 0
    await run(id, { limits: { ...PARSE_LIMITS, timeMs: 1, timeMsPerMegabyte: 0 }, onProcess: (pid) => (child = pid) })
    expect(await read(id)).toMatchObject({ state: 'failed', error: { code: 'timed_out' } })
    expect(() => process.kill(child, 0)).toThrow()
  })

  test.runIf(process.platform === 'linux')('is given up at the memory limit', async () => {
    const id = await store(makePdf(pages))
    await run(id, { limits: { ...PARSE_LIMITS, residentBytes: 1024 * 1024 } })
    expect(await read(id)).toMatchObject({ state: 'failed', error: { code: 'out_of_memory' } })
  })
})

test('a document is read although the transaction that makes it searchable deadlocks with another', async () => {
  const id = await store(makePdf(pages.slice(0, 2)))
  const other = new pg.Client(test_.adminConnection)
  await other.connect()
  onTestFinished(() => other.end())
  // PostgreSQL ends the transaction that looks for a deadlock first.
  await other.query(`set deadlock_timeout = '1h'`)
  await other.query('begin')
  await other.query('lock table search_segments in share mode')
  const reading = run(id)
  const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  await expect.poll(async () => (await test_.admin.query(waiting)).rowCount).toBe(1)
  await other.query('select from documents where id = $1 for update', [id])
  await other.query('commit')
  await reading
  await expectOneWholeSet(id, 2)
})

test('documents without a job are found when a server starts', async () => {
  const lost = await store(makePdf(['Lost between the row and the job.']))
  const interrupted = await store(makePdf(['Interrupted by a kill.']))
  await test_.database.asService((scope) => claimDocument(scope, interrupted))
  const jobs = startJobs({
    connection: test_.connection,
    log,
    handlers: createDocumentJobs({ database: test_.database, blobs, log }),
  })
  onTestFinished(() => jobs.stop())
  await expect
    .poll(async () => [(await read(lost)).state, (await read(interrupted)).state], { timeout: 20_000 })
    .toEqual(['ready', 'ready'])
})

test('a file with text overtakes scans that are being recognised, and a scan of one page those of many', async () => {
  const picture = await drawText('To be recognised.')
  const scan = (count: number, name: string) =>
    store(makeScannedPdf(Array.from({ length: count }, () => ({ picture }))), UPLOAD_TYPES.pdf, name)
  const long = await scan(10, 'long.pdf')
  const short = await scan(1, 'short.pdf')
  const text = await store(makePdf(['Nothing to recognise here.']), UPLOAD_TYPES.pdf, 'text.pdf')
  const done: string[] = []
  const allDone = Promise.withResolvers<undefined>()
  const jobs = startJobs({
    connection: test_.connection,
    log,
    handlers: createDocumentJobs({
      database: test_.database,
      blobs,
      log,
      concurrency: 1,
      ocrProcesses: 1,
      onStage(stage, id) {
        if (stage === 'indexed') done.push(id)
        if (done.length === 3) allDone.resolve(undefined)
      },
    }),
  })
  onTestFinished(() => jobs.stop())
  await allDone.promise
  expect(done).toEqual([text, short, long])
  expect(await read(long)).toMatchObject({ state: 'ready', pages: 10, readability: { by_ocr: 10 } })
})

test('a file with little to read overtakes one that takes long', async () => {
  const long = await store(makePdf(['It takes long to read this.']), UPLOAD_TYPES.pdf, 'long.pdf')
  const short = await store(makePdf(['There is little to read here.']), UPLOAD_TYPES.pdf, 'short.pdf')
  const longPath = (await test_.admin.query<{ path: string }>('select path from documents where id = $1', [long]))
    .rows[0]?.path
  const released = Promise.withResolvers<undefined>()
  const done: string[] = []
  const ended = { short: Promise.withResolvers<undefined>(), both: Promise.withResolvers<undefined>() }
  const jobs = startJobs({
    connection: test_.connection,
    log,
    handlers: createDocumentJobs({
      database: test_.database,
      blobs: {
        ...blobs,
        async open(path, ...rest) {
          if (path === longPath) await released.promise
          return blobs.open(path, ...rest)
        },
      },
      log,
      concurrency: 1,
      longFileMs: 50,
      onStage(stage, id) {
        if (stage !== 'indexed') return
        done.push(id)
        if (id === short) ended.short.resolve(undefined)
        if (done.length === 2) ended.both.resolve(undefined)
      },
    }),
  })
  onTestFinished(() => jobs.stop())
  await ended.short.promise
  expect(await read(long)).toMatchObject({ state: 'reading' })
  released.resolve(undefined)
  await ended.both.promise
  expect(done).toEqual([short, long])
})

test.each([
  ['another tokenizer', `update document_index set tokenizer = 'old' where document_id = $1`],
  ['an index that an upgrade has emptied', 'delete from document_index where document_id = $1'],
])('%s is indexed anew in the background', async (_, change) => {
  const id = await store(makePdf(pages))
  await run(id)
  await test_.admin.query(change, [id])
  const jobs = startJobs({
    connection: test_.connection,
    log,
    handlers: createDocumentJobs({ database: test_.database, blobs, log }),
  })
  onTestFinished(() => jobs.stop())
  const tokenizer = async () =>
    (
      await test_.admin.query<{ tokenizer: string }>('select tokenizer from document_index where document_id = $1', [
        id,
      ])
    ).rows[0]?.tokenizer
  await expect.poll(tokenizer).toBe(TOKENIZER_VERSION)
  await expectOneWholeSet(id, 30)
})

describe('quotas', () => {
  const UNLIMITED = { fileBytesPerPerson: 0, textBytesPerPerson: 0, totalBytes: 0 }
  const usageOf = async () => (await test_.database.asUser(person, readOwnUsage)).file_bytes
  const remove = (id: string) => test_.database.asUser(person, (scope) => deleteDocument(scope, id))
  const letters = (words: number, step: number) =>
    Buffer.from(Array.from({ length: words }, (_, n) => String.fromCodePoint(97 + ((n * n * step) % 26))).join(' '))

  test('the text and the index of a file count with it, however small the file is', async () => {
    const bytes = letters(150_000, 7)
    const id = await store(bytes, UPLOAD_TYPES.txt, 'letters.txt')
    const stored = await usageOf()
    expect(stored).toBe(4_096 + bytes.length)
    await run(id)
    expect((await read(id)).state).toBe('ready')
    const { rows } = await test_.admin.query<{ bytes: string }>(
      `select (select sum(pg_column_size(text)) from document_pages where document_id = $1)
         + (select sum(octet_length(content)) from search_buckets where owner = $2)
         + (select count(*) * 24 from passages where document_id = $1) as bytes`,
      [id, person.sub],
    )
    const derived = (await usageOf()) - stored
    expect(derived).toBeGreaterThan(Number(rows[0]?.bytes))
    expect(derived).toBeGreaterThan(bytes.length / 10)
    await test_.database.asService((scope) => renameDocument(scope, id, 'renamed.txt'))
    const handlers = createDocumentJobs({ database: test_.database, blobs, log })
    await handlers['documents.reindex']?.run({ documentId: id }, jobRun())
    expect(Math.abs((await usageOf()) - stored - derived)).toBeLessThan(200)
    await remove(id)
    expect(await usageOf()).toBe(0)
  })

  test('a file whose owner has no room left is not read, says so, and leaves nothing', async () => {
    onTestFinished(() => setQuotas(test_.database, UNLIMITED))
    const [first, second] = [
      await store(letters(20_000, 3), UPLOAD_TYPES.txt, 'first.txt'),
      await store(letters(20_000, 5), UPLOAD_TYPES.txt, 'second.txt'),
    ]
    await setQuotas(test_.database, { ...UNLIMITED, fileBytesPerPerson: (await usageOf()) + 1 })
    await run(first)
    await run(second)
    expect(await read(first)).toMatchObject({ state: 'ready' })
    expect(await read(second)).toMatchObject({
      state: 'failed',
      error: {
        code: 'no_room',
        message: 'There is no room for the text of this file. Delete documents, this one too, and upload it again.',
      },
    })
    expect((await test_.admin.query('select from document_pages where document_id = $1', [second])).rowCount).toBe(0)
    await remove(first)
    await remove(second)
    expect(await usageOf()).toBe(0)
  })
})
