/** Many small files at once: time and memory until all are ready, against one process that does the same work. */
import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { UPLOAD_TYPES } from '#contract/file-types.ts'
import { insertDocument } from '#server/documents/store/library.ts'
import { insertPages } from '#server/documents/store/pages.ts'
import type { ParsedPage } from '#server/parsing/page.ts'
import { loadParser } from '#server/parsing/parsers.ts'
import { indexDocument } from '#server/search/index/index-document.ts'
import { makeDocx } from '#test/make-docx.ts'
import { readDocument } from '#test/read-document.ts'
import { askWhileReading } from './ingest-chat.ts'
import { type Library, openLibrary } from './library.ts'
import { makeLongPdf } from './long-pdf.ts'
import { createRandom, makeText } from './made-text.ts'
import { median, rounded, timed } from './measure.ts'
import { peakKib, residentKib, resetPeak } from './process-memory.ts'
import { type SignedIn, startSignedIn } from './signed-in.ts'
import { type MadeFile, type WatchedLibrary, watchLibrary } from './watched-library.ts'

const PER_REQUEST = 50
const TEXT_CHARACTERS = 300
const DOCX_CHARACTERS = 18_500
const PDF_PAGES = 10
const QUESTIONS = 60
/** Time after which a started server is idle. */
const SETTLE_MS = 5_000

const textFiles = (count: number): MadeFile[] => {
  const random = createRandom(count)
  return Array.from({ length: count }, (_, index) => ({
    name: `${makeText(random, 12)} ${index}.txt`,
    bytes: new TextEncoder().encode(makeText(random, TEXT_CHARACTERS)),
  }))
}

const docxFiles = (count: number): MadeFile[] => {
  const random = createRandom(count)
  return Array.from({ length: count }, (_, index) => ({
    name: `letter ${index}.docx`,
    bytes: new Uint8Array(
      makeDocx(
        Array.from({ length: 20 }, (_paragraph, place) =>
          place % 10 === 0
            ? { heading: makeText(random, 40) }
            : { paragraph: makeText(random, (DOCX_CHARACTERS - 3_000) / 18) },
        ),
      ),
    ),
  }))
}

const pdfFiles = (count: number): MadeFile[] =>
  Array.from({ length: count }, (_, index) => ({
    name: `report ${index}.pdf`,
    bytes: makeLongPdf(PDF_PAGES, (index + 1) * 10_000),
  }))

interface Read {
  readonly uploadedS: number
  readonly readyS: number
  readonly failed: number
}

async function readAll(library: WatchedLibrary, files: readonly MadeFile[]): Promise<Read> {
  const startedAt = performance.now()
  const seconds = () => (performance.now() - startedAt) / 1000
  const documents = await library.uploadAll(files, PER_REQUEST)
  const uploadedS = seconds()
  const rows = await Promise.all(documents.map(({ id }) => library.ended(id)))
  return { uploadedS, readyS: seconds(), failed: rows.filter(({ state }) => state !== 'ready').length }
}

async function parseHere({ bytes }: MadeFile, mediaType: string): Promise<ParsedPage[]> {
  const parse = await loadParser(mediaType)
  const pages: ParsedPage[] = []
  for await (const part of parse(bytes, { languages: [] })) if ('text' in part) pages.push(part)
  return pages
}

/** Parses, splits, tokenises and stores text files in one transaction of this process. */
async function storeHere(library: Library, files: readonly MadeFile[]): Promise<void> {
  const { sub: owner } = await library.createPerson()
  await library.database.asService(async (scope) => {
    for (const file of files) {
      const pages = await parseHere(file, UPLOAD_TYPES.txt)
      const sha256 = createHash('sha256').update(file.bytes).digest('hex')
      const { name, bytes } = file
      const row = await insertDocument(scope, {
        owner,
        name,
        mimetype: UPLOAD_TYPES.txt,
        size: bytes.length,
        path: sha256,
        sha256,
      })
      if (!row) throw new Error(`${name} occurs twice`)
      const document = { id: row.id, owner, filename: row.filename }
      await insertPages(scope, owner, [{ id: row.id, pages }])
      await indexDocument(
        scope,
        document,
        pages.map(({ page, text, headings }) => ({ page, text, headings: headings ?? null })),
      )
    }
  })
}

const withSession = async <T>(measure: (session: SignedIn, library: WatchedLibrary) => Promise<T>): Promise<T> => {
  const session = await startSignedIn({ RATE_LIMITS: 'off' })
  const library = await watchLibrary(session, await session.open())
  await delay(SETTLE_MS)
  const measured = await measure(session, library)
  await session.close()
  return measured
}

export async function measureTexts(count: number): Promise<Record<string, unknown>> {
  const files = textFiles(count)
  const baseline = await openLibrary()
  const here = () => timed(() => storeHere(baseline, files))
  const before = await here()
  const read = await withSession(async ({ alcove }, library) => {
    const idleKib = await residentKib(alcove.pid)
    await resetPeak(alcove.pid)
    const measured = await readAll(library, files)
    const megabytes = (kib: number) => rounded((kib * 1024) / 1_000_000, 0)
    const mostKib = await peakKib(alcove.pid)
    return { ...measured, idleMb: megabytes(idleKib), grownMb: megabytes(mostKib - idleKib) }
  })
  const hereS = median([before, await here()]) / 1000
  await baseline.close()
  return {
    files: count,
    failed: read.failed,
    uploadedS: rounded(read.uploadedS, 1),
    readyS: rounded(read.readyS, 1),
    readyGoalS: 60,
    hereS: rounded(hereS, 1),
    ratio: rounded(read.readyS / hereS),
    ratioGoal: 5,
    idleMb: read.idleMb,
    grownMb: read.grownMb,
    grownGoalMb: 200,
  }
}

/** Parsing alone: in this process, one file after the other, and with a parser process per file. */
async function measureKind(library: WatchedLibrary, files: readonly MadeFile[], mediaType: string) {
  const parseAll = async (parse: (file: MadeFile) => Promise<unknown>): Promise<number> => {
    const ms = await timed(async () => {
      for (const file of files) await parse(file)
    })
    return ms / 1000
  }
  const hereS = await parseAll((file) => parseHere(file, mediaType))
  const { readyS, uploadedS, failed } = await readAll(library, files)
  const isolatedS = await parseAll(({ name, bytes }) => readDocument(bytes, name))
  return {
    files: files.length,
    bytesPerFile: files[0]?.bytes.length,
    failed,
    uploadedS: rounded(uploadedS, 1),
    readyS: rounded(readyS, 1),
    parsingS: rounded(hereS, 1),
    ratio: rounded(readyS / hereS),
    ratioGoal: 1.5,
    parsingInProcessesS: rounded(isolatedS, 1),
    ratioToProcesses: rounded(readyS / isolatedS),
  }
}

export const measureOffice = (count: {
  readonly docx: number
  readonly pdf: number
}): Promise<Record<string, unknown>> =>
  withSession(async (_session, library) => ({
    docx: await measureKind(library, docxFiles(count.docx), UPLOAD_TYPES.docx),
    pdf: await measureKind(library, pdfFiles(count.pdf), UPLOAD_TYPES.pdf),
  }))

export const measureFirstTexts = (count: number): Promise<Record<string, unknown>> =>
  askWhileReading(textFiles(count), { perRequest: PER_REQUEST, questions: QUESTIONS })
