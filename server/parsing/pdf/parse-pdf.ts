import { createRequire } from 'node:module'
import path from 'node:path'
import { getDocument, OPS, VerbosityLevel } from 'pdfjs-dist/legacy/build/pdf.mjs'
import { z } from 'zod'
import type { PageGap } from '#contract/document.ts'
import { ParseFailure } from '#server/parsing/failure.ts'
import { isBlank } from '#server/parsing/ocr/raster.ts'
import { createRasteriser } from '#server/parsing/ocr/rasterise-pdf.ts'
import { createRecogniser } from '#server/parsing/ocr/recognise.ts'
import {
  MAX_PAGE_CHARACTERS,
  MAX_PAGES,
  type ParsedPage,
  type ParsedPart,
  type ParseOptions,
} from '#server/parsing/page.ts'
import { isGarbledPage } from './garbled-text.ts'
import { isCoveredByImages, IMAGE_OPERATORS } from './image-coverage.ts'
import { mayHoldLigatures, reorderLigatures } from './ligatures.ts'
import type { TextItem } from './lines.ts'
import { readLinks, readNotes } from './notes.ts'
import { looksLetterspaced } from './line-order.ts'
import { noteBoxes } from './place-notes.ts'
import { joinItems, type PdfFont } from './text.ts'

const packageFolder = path.dirname(createRequire(import.meta.url).resolve('pdfjs-dist/package.json'))
const folder = (name: string) => `${path.join(packageFolder, name)}${path.sep}`

type PdfDocument = Awaited<ReturnType<typeof getDocument>['promise']>
type PdfPage = Awaited<ReturnType<PdfDocument['getPage']>>

/** A page with fewer characters may be an image of text. */
const MIN_TEXT_CHARACTERS = 100
/** Up to this many lines on a full-page image are a stamp, not its text. */
const MAX_STAMP_LINES = 3
/** OCR replaces existing text only if it finds this many times as much. */
const MIN_OCR_GAIN = 3
const MAX_RECOGNISED_PAGES = 500
const MIN_OCR_CONFIDENCE = 50

/** Defers pages without usable text to OCR. Item indexes match the viewer's text layer, which uses equal options. */
export async function* parse(bytes: Uint8Array, { languages, pages }: ParseOptions): AsyncGenerator<ParsedPart> {
  const task = getDocument({
    // The library may take ownership of the bytes.
    data: bytes.slice(),
    cMapUrl: folder('cmaps'),
    cMapPacked: true,
    standardFontDataUrl: folder('standard_fonts'),
    wasmUrl: folder('wasm'),
    iccUrl: folder('iccs'),
    useSystemFonts: false,
    disableFontFace: true,
    verbosity: VerbosityLevel.ERRORS,
  })
  try {
    const document = await task.promise.catch((error: unknown) => {
      throw new ParseFailure(isNamed(error, 'PasswordException') ? 'encrypted' : 'damaged', { cause: error })
    })
    if (document.numPages > MAX_PAGES) throw new ParseFailure('too_large')
    yield { pages: document.numPages }
    yield* pages ? recognisePages(document, bytes, { languages, pages }) : readPages(document)
  } finally {
    await task.destroy()
  }
}

async function* readPages(document: PdfDocument): AsyncGenerator<ParsedPart> {
  const fonts: Fonts = new Map()
  let deferred = 0
  for (let page = 1; page <= document.numPages; page += 1) {
    const layer = await readPage(document, page, fonts)
    if (layer?.isUsable !== true && deferred < MAX_RECOGNISED_PAGES) {
      deferred += 1
      yield { deferred: page }
    } else yield layer ? withGap(layer.page, 'beyond_limit') : { page, text: '', gap: 'unreadable' }
  }
}

const withGap = (page: ParsedPage, gap: PageGap): ParsedPage => (page.text.trim() === '' ? { gap, ...page } : page)

async function* recognisePages(
  document: PdfDocument,
  bytes: Uint8Array,
  { languages, pages }: Required<ParseOptions>,
): AsyncGenerator<ParsedPart> {
  const rasteriser = createRasteriser(bytes)
  const recogniser = createRecogniser(languages)
  const fonts: Fonts = new Map()
  try {
    for (const [index, page] of pages.entries()) {
      yield { recognising: page }
      const layer = await readPage(document, page, fonts)
      const raster = await rasteriser.draw(page).catch(() => 'broken' as const)
      if (raster !== undefined && raster !== 'broken' && !isBlank(raster)) {
        const recognised = await recogniser.recognise(raster).catch(abortedOnly)
        if (recognised !== 'aborted') {
          yield chooseText(layer, { page, ...recognised })
          continue
        }
        yield withGap(layer?.page ?? { page, text: '' }, 'not_recognised')
        // An aborted engine is unusable: another process reads the remaining pages.
        for (const left of pages.slice(index + 1)) yield { deferred: left }
        return
      }
      if (layer) yield withGap(layer.page, raster === 'broken' ? 'unreadable' : 'blank')
      else yield { page, text: '', gap: 'unreadable' }
    }
  } finally {
    rasteriser.close()
  }
}

/** WebAssembly aborts are the fault of a page; other errors are not. */
function abortedOnly(error: unknown): 'aborted' {
  if (isNamed(error, 'RuntimeError')) return 'aborted'
  throw error
}

interface TextLayer {
  readonly page: ParsedPage
  readonly isGarbled: boolean
  readonly isUsable: boolean
}

function chooseText(
  layer: TextLayer | undefined,
  recognised: ParsedPage & { readonly confidence: number },
): ParsedPage {
  if (!layer) return recognised
  const { page, isGarbled } = layer
  const characters = page.text.trim().length
  if (characters === 0) return recognised
  const isMore = isGarbled || recognised.text.length > MIN_OCR_GAIN * characters
  return isMore && recognised.confidence >= MIN_OCR_CONFIDENCE ? recognised : page
}

/** Undefined if the page is unreadable: one page must not fail the file. */
async function readPage(document: PdfDocument, number: number, fonts: Fonts): Promise<TextLayer | undefined> {
  let page
  const items: TextItem[] = []
  try {
    page = await document.getPage(number)
    const stream = page.streamTextContent({
      includeMarkedContent: true,
      disableNormalization: true,
    })
    const reader = (stream as ReadableStream<{ items: object[] }>).getReader()
    for (let characters = 0; ;) {
      const { done, value } = await reader.read()
      if (done) break
      for (const item of value.items) {
        if (!isTextItem(item)) continue
        items.push(item)
        characters += item.str.length
      }
      if (characters > MAX_PAGE_CHARACTERS) throw new ParseFailure('too_large')
    }
    await loadFonts(page, items, fonts)
    const annotations: unknown[] = await page.getAnnotations()
    const { notes, ...joined } = joinItems(await fixLigatures(page, items), (name) => fonts.get(name), {
      notes: readNotes(annotations),
      links: readLinks(annotations),
      drawn: items.some(({ str }) => looksLetterspaced(str)) ? (await drawnGlyphs(page)).join('') : '',
    })
    const viewport = page.getViewport({ scale: 1 })
    const boxes = notes.flatMap((note) => noteBoxes(joined.text, note, viewport))
    const parsed = { page: number, ...joined, ...(boxes.length > 0 ? { boxes } : {}) }
    // Addresses of links are no text of the page: they may cover a scanned page.
    const withoutAddresses = notes
      .filter(({ isAddress }) => isAddress)
      .reduce(
        (text, { start, length }) => text.slice(0, start) + ' '.repeat(length) + text.slice(start + length),
        parsed.text,
      )
    const characters = withoutAddresses.replaceAll(/\s/g, '').length
    const isGarbled = isGarbledPage(items)
    if (characters >= MIN_TEXT_CHARACTERS) {
      const isStamped =
        countLines(parsed.text) <= MAX_STAMP_LINES && isCoveredByImages(await page.getOperatorList(), page.view)
      return { page: parsed, isGarbled, isUsable: !isGarbled && !isStamped }
    }
    const { fnArray } = await page.getOperatorList()
    const shows = (operators: ReadonlySet<number>) => fnArray.some((operator) => operators.has(operator))
    if (characters === 0 && !shows(PAINTING_OPERATORS))
      return { page: { ...parsed, gap: 'blank' }, isGarbled, isUsable: true }
    return { page: parsed, isGarbled, isUsable: !isGarbled && characters > 0 && !shows(IMAGE_OPERATORS) }
  } catch (error) {
    if (error instanceof ParseFailure) throw error
    return undefined
  } finally {
    page?.cleanup()
  }
}

const glyphs = z.array(z.union([z.number(), z.object({ unicode: z.string() })]))

/** Text of each glyph in drawing order, without the blanks that pdf.js infers from locations. */
async function drawnGlyphs(page: PdfPage): Promise<string[]> {
  const { fnArray, argsArray } = await page.getOperatorList()
  const drawn = fnArray.flatMap((operator, index) =>
    operator === OPS.showText ? (glyphs.safeParse((argsArray as unknown[][])[index]?.[0]).data ?? []) : [],
  )
  return drawn.flatMap((glyph) => (typeof glyph === 'number' ? [] : [glyph.unicode]))
}

const fixLigatures = async (page: PdfPage, items: readonly TextItem[]): Promise<readonly TextItem[]> =>
  items.some(mayHoldLigatures) ? reorderLigatures(items, await drawnGlyphs(page)) : items

type Fonts = Map<string, PdfFont>

const pdfFont = z.object({
  name: z.string().default(''),
  bold: z.boolean().default(false),
  black: z.boolean().default(false),
})

/** Font names require the drawing operators, which take as long as the text; only pages with new fonts load them. */
async function loadFonts(page: PdfPage, items: readonly TextItem[], fonts: Fonts): Promise<void> {
  const unknown = new Set(items.map(({ fontName }) => fontName).filter((name) => !fonts.has(name)))
  if (unknown.size === 0) return
  await page.getOperatorList()
  for (const name of unknown) {
    const font = pdfFont.safeParse(page.commonObjs.has(name) ? page.commonObjs.get(name) : {}).data
    fonts.set(name, {
      isBold: font !== undefined && (font.bold || font.black || /bold|black|heavy|semibold|demi/i.test(font.name)),
      isMono: font !== undefined && /mono|courier|consol|menlo|typewriter|inconsolata/i.test(font.name),
    })
  }
}

/** Letters may be drawn as shapes. */
const PAINTING_OPERATORS = new Set<number>([
  ...IMAGE_OPERATORS,
  OPS.constructPath,
  OPS.shadingFill,
  OPS.beginAnnotation,
])

const countLines = (text: string): number => text.split('\n').filter((line) => line.trim() !== '').length

const isTextItem = (item: object): item is TextItem => 'str' in item

const isNamed = (thrown: unknown, name: string): boolean => thrown instanceof Error && thrown.name === name
