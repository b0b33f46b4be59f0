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
  type Parser,
  type ParseOptions,
  withoutNul,
} from '#server/parsing/page.ts'
import { findTextBlocks } from '#server/parsing/text/text-blocks.ts'
import { addPageAttachments, type AttachmentNames, listAttachments, readAttachments } from './attachments.ts'
import { isGarbledPage } from './garbled-text.ts'
import { isCoveredByImages, IMAGE_OPERATORS } from './image-coverage.ts'
import { hideLayers, type Layers } from './layers.ts'
import { mayHoldLigatures, reorderLigatures } from './ligatures.ts'
import type { TextItem } from './lines.ts'
import { readLinks, readNotes } from './notes.ts'
import { looksLetterspaced } from './line-order.ts'
import { noteBoxes } from './place-notes.ts'
import { joinItems, type PdfFont } from './text.ts'
import { writeXfa, XFA_NOTICE } from './xfa.ts'

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
export const parse = (bytes: Uint8Array, options: ParseOptions): AsyncGenerator<ParsedPart> =>
  parseFile(bytes, options, true)

const openFile = (bytes: Uint8Array, enableXfa: boolean) =>
  getDocument({
    // The library may take ownership of the bytes.
    data: bytes.slice(),
    cMapUrl: folder('cmaps'),
    cMapPacked: true,
    standardFontDataUrl: folder('standard_fonts'),
    wasmUrl: folder('wasm'),
    iccUrl: folder('iccs'),
    useSystemFonts: false,
    disableFontFace: true,
    enableXfa,
    verbosity: VerbosityLevel.ERRORS,
  })

async function* parseFile(
  bytes: Uint8Array,
  { languages, pages, tooSlow = [] }: ParseOptions,
  readsAttachments: boolean,
): AsyncGenerator<ParsedPart> {
  const task = openFile(bytes, false)
  try {
    const document = await task.promise.catch((error: unknown) => {
      throw new ParseFailure(isNamed(error, 'PasswordException') ? 'encrypted' : 'damaged', { cause: error })
    })
    if (document.numPages > MAX_PAGES) throw new ParseFailure('too_large')
    yield { pages: document.numPages }
    const attachments = readsAttachments ? await listAttachments(document) : undefined
    if (pages) {
      yield* recognisePages(document, bytes, { languages, pages, tooSlow }, attachments)
      return
    }
    const form = await readForm(document, bytes)
    if (form !== undefined) for (const page of form) yield await withAttachments(document, page, attachments, 'unread')
    else yield* readPages(document, attachments)
  } finally {
    await task.destroy()
  }
}

const parseAttached: Parser = (bytes, options) => parseFile(bytes, options, false)

const metadata = z.object({ info: z.object({ IsXFAPresent: z.boolean() }) })

/** Pages of a form in XFA, as the viewer counts them; undefined if the pages themselves show the document. */
async function readForm(document: PdfDocument, bytes: Uint8Array): Promise<ParsedPage[] | undefined> {
  const { data } = metadata.safeParse(await document.getMetadata().catch(() => undefined))
  if (data?.info.IsXFAPresent !== true) return undefined
  const task = openFile(bytes, true)
  try {
    const form = await task.promise
    if (!form.isPureXfa) return undefined
    const texts: string[] = []
    for (let number = 1; number <= Math.min(form.numPages, MAX_PAGES); number += 1)
      texts.push(writeXfa(await (await form.getPage(number)).getXfa()))
    // The viewer shows the pages with the notice, of which there may be fewer than of the form.
    return Array.from({ length: document.numPages }, (_, index): ParsedPage => {
      const isLast = index === document.numPages - 1
      const text = withoutNul(texts.slice(index, isLast ? undefined : index + 1).join('\n\n')).trim()
      return text === ''
        ? { page: index + 1, text, gap: 'blank' }
        : { page: index + 1, text, blocks: findTextBlocks(text) }
    })
  } catch {
    return undefined
  } finally {
    await task.destroy()
  }
}

/** @param attachments files that follow the last page; undefined if they are not read. */
async function* readPages(document: PdfDocument, attachments: AttachmentNames | undefined): AsyncGenerator<ParsedPart> {
  const fonts: Fonts = new Map()
  const context = { fonts, layers: await readLayers(document), attachments }
  let deferred = 0
  for (let page = 1; page <= document.numPages; page += 1) {
    const layer = await readPage(document, page, context)
    if (layer?.isUsable !== true && deferred < MAX_RECOGNISED_PAGES) {
      deferred += 1
      yield { deferred: page }
    } else
      yield withAttachments(
        document,
        layer ? withGap(layer.page, 'beyond_limit') : { page, text: '', gap: 'unreadable' },
        attachments,
        'read',
      )
  }
}

/**
 * Attached files follow the text of the last page.
 *
 * @param pages whether the names hold the files that are attached to pages already.
 */
async function withAttachments(
  document: PdfDocument,
  page: ParsedPage,
  attachments: AttachmentNames | undefined,
  pages: 'read' | 'unread',
): Promise<ParsedPage> {
  if (!attachments || page.page !== document.numPages) return page
  if (pages === 'unread') await addAttachmentsOfPages(document, attachments)
  if (attachments.size === 0) return page
  const added = withoutNul(await readAttachments(document, attachments, parseAttached))
  const start = page.text === '' ? 0 : page.text.length + 2
  const blocks = findTextBlocks(added).map((block) => ({
    ...block,
    start: block.start + start,
    end: block.end + start,
  }))
  return {
    ...page,
    text: page.text === '' ? added : `${page.text}\n\n${added}`,
    blocks: [...(page.blocks ?? []), ...blocks],
  }
}

/** Where another process reads the other pages, their files are unknown here. */
async function addAttachmentsOfPages(document: PdfDocument, attachments: AttachmentNames): Promise<void> {
  for (let number = 1; number <= document.numPages; number += 1) {
    try {
      const page = await document.getPage(number)
      addPageAttachments(await page.getAnnotations(), attachments)
      page.cleanup()
    } catch {
      // An unreadable page must not lose the files of the others.
    }
  }
}

async function readLayers(document: PdfDocument): Promise<Layers | undefined> {
  try {
    const config = await document.getOptionalContentConfig()
    const groups = [...(config as unknown as Iterable<readonly [string, { readonly visible: boolean }]>)]
    return groups.some(([, { visible }]) => !visible) ? config : undefined
  } catch {
    return undefined
  }
}

const withGap = (page: ParsedPage, gap: PageGap): ParsedPage => (page.text.trim() === '' ? { gap, ...page } : page)

async function* recognisePages(
  document: PdfDocument,
  bytes: Uint8Array,
  { languages, pages, tooSlow }: Required<ParseOptions>,
  attachments: AttachmentNames | undefined,
): AsyncGenerator<ParsedPart> {
  const rasteriser = createRasteriser(bytes)
  const recogniser = createRecogniser(languages)
  const fonts: Fonts = new Map()
  const context = { fonts, layers: await readLayers(document), attachments }
  const complete = (read: ParsedPage) => withAttachments(document, read, attachments, 'unread')
  try {
    for (const [index, page] of pages.entries()) {
      if (tooSlow.includes(page)) {
        const layer = await readPage(document, page, context)
        yield await complete(withGap(layer?.page ?? { page, text: '' }, 'not_recognised'))
        continue
      }
      yield { recognising: page }
      const layer = await readPage(document, page, context)
      const raster = await rasteriser.draw(page).catch(() => 'broken' as const)
      if (raster !== undefined && raster !== 'broken' && !isBlank(raster)) {
        const recognised = await recogniser.recognise(raster).catch(abortedOnly)
        if (recognised !== 'aborted') {
          yield await complete(chooseText(layer, { page, ...recognised }))
          continue
        }
        yield await complete(withGap(layer?.page ?? { page, text: '' }, 'not_recognised'))
        // An aborted engine is unusable: another process reads the remaining pages.
        for (const left of pages.slice(index + 1)) yield { deferred: left }
        return
      }
      yield await complete(
        layer
          ? withGap(layer.page, raster === 'broken' ? 'unreadable' : 'blank')
          : { page, text: '', gap: 'unreadable' },
      )
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

interface PageContext {
  readonly fonts: Fonts
  /** Undefined if every layer is shown. */
  readonly layers: Layers | undefined
  /** Gains the files that are attached to pages. */
  readonly attachments: AttachmentNames | undefined
}

/** Undefined if the page is unreadable: one page must not fail the file. */
async function readPage(
  document: PdfDocument,
  number: number,
  { fonts, layers, attachments }: PageContext,
): Promise<TextLayer | undefined> {
  let page
  let items: TextItem[] = []
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
    if (layers) items = hideLayers(items, await page.getOperatorList(), layers)
    await loadFonts(page, items, fonts)
    const annotations: unknown[] = await page.getAnnotations()
    if (attachments) addPageAttachments(annotations, attachments)
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
    if (XFA_NOTICE.test(parsed.text.replaceAll(/\s+/g, ' ')))
      return { page: { page: number, text: '', gap: 'unreadable' }, isGarbled, isUsable: true }
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
