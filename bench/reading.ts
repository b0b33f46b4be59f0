/**
 * How well and how fast files are read: `npm run bench -- reading <folder> [texts|hostile|pdf|order|office|ocr …]`. The
 * folder is laid out as `documents/` and `hostile/` with a `manifest.json` each. `order` compares pages with the folder that
 * REFERENCES names: in it, `<file>.<page>.md` is the text of a page of `documents/<file>` in the order in which a person reads
 * it. Each comparison needs its tool (Debian: poppler-utils, pandoc, antiword, tesseract-ocr) and says so where it is missing.
 */
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { read } from '@e965/xlsx'
import { UPLOAD_TYPES } from '#contract/file-types.ts'
import { readWordBinary } from '#server/parsing/doc-legacy/binary-format.ts'
import { findWordBlocks } from '#server/parsing/doc-legacy/recover-text.ts'
import { ParseFailure } from '#server/parsing/failure.ts'
import type { ParsedPage } from '#server/parsing/page.ts'
import { loadParser } from '#server/parsing/parsers.ts'
import { createWarmParsers, type WarmParsers } from '#server/parsing/sandbox/warm-processes.ts'
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

/** Undefined if some pages need OCR or the pdf cannot be read. */
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
  const [scores, orders, ratios]: [number[], number[], number[]] = [[], [], []]
  const worst: [number, string][] = []
  for (const file of await filesOf(folder, 'pdf')) {
    const { ms: baselineMs, result: given } = await timed(() => tool('pdftotext', [file, '-']))
    const reference = wordsOf(given ?? '')
    if (reference.length < LEAST_WORDS) continue
    const bytes = await readFile(file)
    const pages = await readTextLayer(bytes)
    // Text that only OCR could read is not part of the file's text.
    if (pages === undefined) continue
    const ours = wordsOf(textOf(pages))
    const score = wordF1(ours, reference)
    scores.push(score)
    worst.push([rounded(score, 3), path.basename(file)])
    orders.push(orderScore(ours, reference))
    if (pages.length >= MANY_PAGES) ratios.push((await timed(() => readDocument(bytes, file))).ms / baselineMs)
  }
  return {
    files: scores.length,
    wordF1: mean(scores),
    orderAgainstPdftotext: mean(orders),
    timeRatioOfLongFiles: ratios.length === 0 ? null : rounded(median(ratios)),
    worst: worst.toSorted(([one], [other]) => one - other).slice(0, 4),
  }
}

/** Share of each reference page that the parsed text contains in equal order. */
async function order(folder: string): Promise<Figures> {
  const references = process.env['REFERENCES']
  if (references === undefined) throw new Error('REFERENCES names no folder of pages')
  const wanted = new Map<string, number[]>()
  for (const [, file = '', page] of (await readdir(references)).map((name) => /^(.+)\.(\d+)\.md$/.exec(name) ?? []))
    if (file !== '') wanted.set(file, [...(wanted.get(file) ?? []), Number(page)])
  const scores: [number, string][] = []
  for (const [file, numbers] of wanted) {
    const texts = await readTextPages(await readFile(path.join(folder, 'documents', file)), new Set(numbers))
    for (const page of numbers) {
      const reference = wordsOf(await readFile(path.join(references, `${file}.${page}.md`), 'utf8'))
      scores.push([rounded(orderScore(wordsOf(texts.get(page) ?? ''), reference), 3), `${file} ${page}`])
    }
  }
  return { pages: scores.length, ...byFile(scores) }
}

async function readTextPages(bytes: Uint8Array, numbers: ReadonlySet<number>): Promise<Map<number, string>> {
  const parse = await loadParser(UPLOAD_TYPES.pdf)
  const texts = new Map<number, string>()
  const last = Math.max(...numbers)
  for await (const part of parse(new Uint8Array(bytes), { languages: [] })) {
    if ('text' in part && numbers.has(part.page)) texts.set(part.page, part.text)
    if ('page' in part && part.page >= last) break
  }
  return texts
}

async function office(folder: string): Promise<Figures> {
  return { docx: await docx(folder).catch(said), doc: await doc(folder).catch(said), cells: await cells(folder) }
}

const byFile = (scores: readonly [number, string][]): Figures => ({
  mean: mean(scores.map(([score]) => score)),
  files: scores.toSorted(([one], [other]) => one - other),
})

async function docx(folder: string): Promise<Figures> {
  const scores: [number, string][] = []
  for (const file of await filesOf(folder, 'docx')) {
    const reference = wordsOf((await tool('pandoc', ['-t', 'plain', '--wrap=none', file])) ?? '')
    const { pages, failure } = await readDocument(await readFile(file), file)
    if (failure !== undefined || reference.length < LEAST_WORDS) continue
    scores.push([rounded(wordF1(wordsOf(textOf(pages)), reference), 4), path.basename(file)])
  }
  return byFile(scores)
}

/** Label of a list item; antiword numbers bullets too. */
const LABEL = /^[^\S\n]*(?:[\p{L}\p{N}]{1,3}[.)]|[\d.]{3,})[^\S\n]/gmu
/** antiword's placeholder for a picture. */
const PICTURE = /\[pic\]/g

/**
 * antiword prints text that was deleted under revision, but no headers, footers or comments; Alcove's output is
 * reduced likewise. Both leave out list labels.
 */
async function doc(folder: string): Promise<Figures> {
  const scores: [number, string][] = []
  const withoutLabels = (text: string) => wordsOf(text.replaceAll(PICTURE, '').replaceAll(LABEL, ''))
  for (const file of await filesOf(folder, 'doc')) {
    const reference = withoutLabels((await tool('antiword', ['-w', '0', '-m', 'UTF-8.txt', file])) ?? '')
    const bytes = await readFile(file)
    const { failure } = await readDocument(bytes, file)
    if (failure !== undefined || reference.length < LEAST_WORDS) continue
    const { body, textboxes, footnotes, endnotes } = readWordBinary(bytes, { keepsDeleted: true })
    const ours = textOf([body, textboxes, footnotes, endnotes].flatMap(findWordBlocks))
    scores.push([rounded(wordF1(withoutLabels(ours), reference), 4), path.basename(file)])
  }
  return byFile(scores)
}

const said = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Every cell with a string, searched on the page of its sheet. */
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
      // Missing rows and cells are holes, which only `forEach` skips.
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
 * Draws pages of plain text at 200 dpi and recognises them with Alcove, in a cold and in a warm process, and with the
 * native program on one thread: with Alcove's language data, and with Debian's, whose network is a quarter of the
 * size.
 */
async function ocr(folder: string): Promise<Figures> {
  const scratch = await mkdtemp(path.join(tmpdir(), 'alcove-ocr-'))
  const ours: number[] = []
  const theirs = { same: [] as number[], installed: [] as number[] }
  const ratios = { same: [] as number[], installed: [] as number[], sameFromNothing: [] as number[] }
  const warmParsers = createWarmParsers()
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
      const readBy = (given?: WarmParsers) => timed(() => readDocument(bytes, 'page.png', undefined, ['eng'], given))
      if (ours.length === 0) await readBy(warmParsers)
      const read_ = await readBy(warmParsers)
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
    warmParsers.stop()
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

const PARTS = { texts, hostile, pdf, order, office, ocr }

export async function run([folder, ...names]: string[]): Promise<Figures> {
  if (folder === undefined || !(await stat(folder)).isDirectory()) throw new Error('name the folder of the files')
  const figures: Figures = {}
  for (const [name, part] of Object.entries(PARTS))
    if (names.length === 0 || names.includes(name)) figures[name] = await part(folder).catch(said)
  return figures
}
