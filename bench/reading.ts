/**
 * How well and how fast files are read: `npm run bench -- reading <folder> [texts|hostile|pdf|office|ocr …]`. The folder is
 * laid out as `documents/` and `hostile/` with a `manifest.json` each; beside a pdf, `<name>.reference.txt` is its text in
 * reading order. Each comparison needs its tool (Debian: poppler-utils, pandoc, antiword, tesseract-ocr) and says so
 * where it is missing.
 */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { read } from '@e965/xlsx'
import { UPLOAD_TYPES } from '#contract/limits.ts'
import { ParseFailure } from '#server/documents/parse/failure.ts'
import { type ParsedPage } from '#server/documents/parse/page.ts'
import { loadParser } from '#server/documents/parse/parsers.ts'
import { createReadyReaders, type ReadyReaders } from '#server/documents/parse/ready-readers.ts'
import { documentsManifest, hostileManifest, missingTexts, readManifest } from '#test/expected-texts.ts'
import { readDocument } from '#test/read-document.ts'
import { median, rounded } from './measure.ts'
import { orderScore, wordF1, wordsOf } from './word-score.ts'

const run_ = promisify(execFile)
const MANY_PAGES = 20
const OCR_PAGES = 6
const RESOLUTION = 200
const LEAST_WORDS = 20

type Figures = Record<string, unknown>

const textOf = (pages: readonly { readonly text: string }[]): string => pages.map(({ text }) => text).join('\n')
const mean = (values: readonly number[]): number | null =>
  values.length === 0 ? null : rounded(values.reduce((sum, value) => sum + value, 0) / values.length, 4)

async function tool(
  name: string,
  args: readonly string[],
  environment: NodeJS.ProcessEnv = {},
): Promise<string | undefined> {
  try {
    const { stdout } = await run_(name, [...args], {
      maxBuffer: 256 * 1024 * 1024,
      env: { ...process.env, ...environment },
    })
    return stdout
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT')
      throw new Error(`${name} is not installed`)
    return undefined
  }
}

async function timed<T>(work: () => Promise<T>): Promise<{ ms: number; result: T }> {
  const startedAt = performance.now()
  const result = await work()
  return { ms: performance.now() - startedAt, result }
}

async function filesOf(folder: string, extension: string): Promise<string[]> {
  const names = await readdir(path.join(folder, 'documents'))
  return names.filter((name) => name.endsWith(`.${extension}`)).map((name) => path.join(folder, 'documents', name))
}

async function texts(folder: string): Promise<Figures> {
  let expected = 0
  const missing: string[] = []
  for (const { file, expect, expect_ocr = [], fails } of readManifest(
    folder,
    'documents/manifest.json',
    documentsManifest,
  )) {
    if (fails) continue
    const { pages } = await readDocument(await readFile(path.join(folder, 'documents', file)), file)
    const all = [...expect, ...expect_ocr]
    expected += all.length
    missing.push(...missingTexts(pages, all).map(({ page, text }) => `${file} ${page ?? ''}: ${text}`))
  }
  return { expected, found: expected - missing.length, missing }
}

async function hostile(folder: string): Promise<Figures> {
  const wrong: string[] = []
  let slowestMs = 0
  const manifest = readManifest(folder, 'hostile/manifest.json', hostileManifest)
  for (const { file, expect } of manifest) {
    const bytes = await readFile(path.join(folder, 'hostile', file))
    const { ms, result } = await timed(() => readDocument(bytes, file))
    slowestMs = Math.max(slowestMs, ms)
    const ended =
      result.failure === 'rejected' ? 'rejected at upload' : result.failure ? 'fails with a reason' : 'accepted'
    if (ended !== expect) wrong.push(`${file}: ${ended} (${result.failure ?? 'read'}), expected: ${expect}`)
  }
  return { files: manifest.length, otherwise: wrong, slowestMs: rounded(slowestMs, 0) }
}

/** The pages of a pdf, undefined where some need OCR or it cannot be read. */
async function readTextLayer(bytes: Uint8Array): Promise<ParsedPage[] | undefined> {
  const parse = await loadParser(UPLOAD_TYPES.pdf)
  const pages: ParsedPage[] = []
  try {
    for await (const part of parse(new Uint8Array(bytes), { languages: [] })) {
      if ('deferred' in part) return undefined
      if ('text' in part) pages.push(part)
    }
    return pages
  } catch (error) {
    if (error instanceof ParseFailure) return undefined
    throw error
  }
}

async function pdf(folder: string): Promise<Figures> {
  const [scores, orders, ratios, references]: [number[], number[], number[], number[]] = [[], [], [], []]
  const worst: [number, string][] = []
  for (const file of await filesOf(folder, 'pdf')) {
    const { ms: baselineMs, result: given } = await timed(() => tool('pdftotext', [file, '-']))
    const reference = wordsOf(given ?? '')
    if (reference.length < LEAST_WORDS) continue
    const bytes = await readFile(file)
    const pages = await readTextLayer(bytes)
    // What only OCR could read is no text of the file.
    if (pages === undefined) continue
    const ours = wordsOf(textOf(pages))
    const score = wordF1(ours, reference)
    scores.push(score)
    worst.push([rounded(score, 3), path.basename(file)])
    orders.push(orderScore(ours, reference))
    if (pages.length >= MANY_PAGES) ratios.push((await timed(() => readDocument(bytes, file))).ms / baselineMs)
    const byHand = file.replace(/\.pdf$/, '.reference.txt')
    if (existsSync(byHand)) references.push(orderScore(ours, wordsOf(await readFile(byHand, 'utf8'))))
  }
  return {
    files: scores.length,
    wordF1: mean(scores),
    orderAgainstPdftotext: mean(orders),
    orderAgainstReference: mean(references),
    timeRatioOfLongFiles: ratios.length === 0 ? null : rounded(median(ratios)),
    worst: worst.toSorted(([one], [other]) => one - other).slice(0, 4),
  }
}

async function office(folder: string): Promise<Figures> {
  const against = async (extension: string, name: string, args: (file: string) => string[]) => {
    const scores: [number, string][] = []
    for (const file of await filesOf(folder, extension)) {
      const reference = wordsOf((await tool(name, args(file))) ?? '')
      const { pages, failure } = await readDocument(await readFile(file), file)
      if (failure !== undefined || reference.length < LEAST_WORDS) continue
      scores.push([rounded(wordF1(wordsOf(textOf(pages)), reference), 4), path.basename(file)])
    }
    return { mean: mean(scores.map(([score]) => score)), files: scores.toSorted(([one], [other]) => one - other) }
  }
  return {
    docx: await against('docx', 'pandoc', (file) => ['-t', 'plain', '--wrap=none', file]).catch(said),
    doc: await against('doc', 'antiword', (file) => ['-w', '0', '-m', 'UTF-8.txt', file]).catch(said),
    cells: await cells(folder),
  }
}

const said = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Every cell that holds a string, looked for on the page of its sheet. */
async function cells(folder: string): Promise<Figures> {
  let all = 0
  let found = 0
  for (const file of [...(await filesOf(folder, 'xlsx')), ...(await filesOf(folder, 'xls'))]) {
    const bytes = await readFile(file)
    const { pages, failure } = await readDocument(bytes, file)
    if (failure !== undefined) continue
    const book = read(bytes, { dense: true })
    for (const [index, name] of book.SheetNames.entries()) {
      const text = (pages[index]?.text ?? '').replaceAll(/\s+/g, ' ')
      // Rows and cells that are not there are holes, which only `forEach` passes over.
      book.Sheets[name]?.['!data']?.forEach((row) =>
        row.forEach((cell) => {
          if (cell.t !== 's' || String(cell.v).trim() === '') return
          all += 1
          if (text.includes(String(cell.v).replaceAll(/\s+/g, ' ').trim())) found += 1
        }),
      )
    }
  }
  return { all, found }
}

/**
 * Pages of plain text are drawn at 200 dpi and read back, by us and by the native program with one thread: by a process
 * that starts from nothing, and by one that was made ready while the page before was read, as in a server at work. The
 * native program is given our language data, and what Debian installs, whose network is a quarter of the size.
 */
async function ocr(folder: string): Promise<Figures> {
  const scratch = await mkdtemp(path.join(tmpdir(), 'alcove-ocr-'))
  const ours: number[] = []
  const theirs = { same: [] as number[], installed: [] as number[] }
  const ratios = { same: [] as number[], installed: [] as number[], sameFromNothing: [] as number[] }
  const readers = createReadyReaders()
  const data = createRequire(import.meta.url).resolve('@tesseract.js-data/eng/4.0.0_best_int/eng.traineddata.gz')
  await writeFile(path.join(scratch, 'eng.traineddata'), gunzipSync(await readFile(data)))
  const readNatively = (image: string, ...options: string[]) =>
    timed(() => tool('tesseract', [image, '-', '-l', 'eng', ...options], { OMP_THREAD_LIMIT: '1' }))
  try {
    for (const file of await filesOf(folder, 'pdf')) {
      if (ours.length >= OCR_PAGES) break
      const reference = wordsOf((await tool('pdftotext', ['-f', '2', '-l', '2', file, '-'])) ?? '')
      const isEnglish = reference.filter((word) => word === 'the' || word === 'of').length > 15
      if (!isEnglish || reference.length < 250 || reference.length > 700) continue
      const image = path.join(scratch, `${ours.length}`)
      await tool('pdftoppm', ['-r', `${RESOLUTION}`, '-f', '2', '-l', '2', '-png', '-singlefile', file, image])
      const bytes = await readFile(`${image}.png`)
      const readBy = (given?: ReadyReaders) => timed(() => readDocument(bytes, 'page.png', undefined, ['eng'], given))
      if (ours.length === 0) await readBy(readers)
      const read_ = await readBy(readers)
      const same = await readNatively(`${image}.png`, '--tessdata-dir', scratch)
      const installed = await readNatively(`${image}.png`)
      ours.push(wordF1(wordsOf(textOf(read_.result.pages)), reference))
      theirs.same.push(wordF1(wordsOf(same.result ?? ''), reference))
      theirs.installed.push(wordF1(wordsOf(installed.result ?? ''), reference))
      ratios.same.push(read_.ms / same.ms)
      ratios.installed.push(read_.ms / installed.ms)
      ratios.sameFromNothing.push((await readBy()).ms / same.ms)
    }
  } finally {
    readers.stop()
    await rm(scratch, { recursive: true })
  }
  return {
    pages: ours.length,
    wordF1: mean(ours),
    ofEach: ours.map((score) => rounded(score, 3)),
    nativeWordF1: { sameData: mean(theirs.same), installedData: mean(theirs.installed) },
    timeRatio:
      ours.length === 0
        ? null
        : {
            sameData: rounded(median(ratios.same)),
            sameDataFromNothing: rounded(median(ratios.sameFromNothing)),
            installedData: rounded(median(ratios.installed)),
          },
  }
}

const PARTS = { texts, hostile, pdf, office, ocr }

export async function run([folder, ...names]: string[]): Promise<Figures> {
  if (folder === undefined || !(await stat(folder)).isDirectory()) throw new Error('name the folder of the files')
  const figures: Figures = {}
  for (const [name, part] of Object.entries(PARTS))
    if (names.length === 0 || names.includes(name)) figures[name] = await part(folder).catch(said)
  return figures
}
