import { createRequire } from 'node:module'
import path from 'node:path'
import { getDocument, OPS, VerbosityLevel } from 'pdfjs-dist/legacy/build/pdf.mjs'
import { ParseFailure } from './failure.ts'
import { isBlank } from './ocr/raster.ts'
import { createRasteriser } from './ocr/rasterise-pdf.ts'
import { createRecogniser } from './ocr/recognise.ts'
import { MAX_PAGE_CHARACTERS, MAX_PAGES, type ParsedPage, type ParsedPart } from './page.ts'
import { joinItems, type TextItem } from './pdf-text.ts'
import { type FontSample, isGarbledPage } from './text-layer.ts'

const packageFolder = path.dirname(createRequire(import.meta.url).resolve('pdfjs-dist/package.json'))
const folder = (name: string) => `${path.join(packageFolder, name)}${path.sep}`

type PdfDocument = Awaited<ReturnType<typeof getDocument>['promise']>

/** Pages with fewer characters are looked at: what they show may be a picture of a text. */
const FEW_CHARACTERS = 100
/** OCR of a page that has some text replaces it only where it finds this many times as much. */
const MUCH_MORE = 3
/** Beyond, pages that only OCR could read are left without text. */
const MAX_RECOGNISED_PAGES = 500
/** A text that is there is replaced only by what was read at least so surely. */
const SURE_ENOUGH = 50

/**
 * Reads a pdf page by page; pages without usable text are drawn and read by OCR. Item indexes count the items that have
 * `str`, with marked content included and normalisation off: the viewer's text layer, asked the same way, gives the same
 * items in the same order.
 */
export async function* parse(bytes: Uint8Array): AsyncGenerator<ParsedPart> {
  const rasteriser = createRasteriser(bytes)
  const recogniser = createRecogniser()
  const task = getDocument({
    // Given away for good: the library may take the bytes over.
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
    let failedPages = 0
    let recognisedPages = 0
    for (let page = 1; page <= document.numPages; page += 1) {
      const layer = await readPage(document, page)
      const raster =
        layer?.isUsable === true || recognisedPages >= MAX_RECOGNISED_PAGES
          ? undefined
          : await rasteriser.draw(page).catch(() => undefined)
      if (!raster || isBlank(raster)) {
        failedPages += layer === undefined ? 1 : 0
        yield layer?.page ?? { page, text: '' }
        continue
      }
      recognisedPages += 1
      yield { recognising: page }
      yield choose(layer, { page, ...(await recogniser.recognise(raster)) })
    }
    if (failedPages === document.numPages) throw new ParseFailure('damaged')
  } finally {
    rasteriser.close()
    await task.destroy()
  }
}

/** The text that a page brings along, and whether it can be what the page shows. */
interface TextLayer {
  readonly page: ParsedPage
  readonly isGarbled: boolean
  readonly isUsable: boolean
}

function choose(layer: TextLayer | undefined, recognised: ParsedPage & { readonly confidence: number }): ParsedPage {
  if (!layer) return recognised
  const { page, isGarbled } = layer
  const characters = page.text.trim().length
  if (characters === 0) return recognised
  const isMore = isGarbled || recognised.text.length > MUCH_MORE * characters
  return isMore && recognised.confidence >= SURE_ENOUGH ? recognised : page
}

/** A page that cannot be read leaves a gap, not a failure: the others are worth having. */
async function readPage(document: PdfDocument, number: number): Promise<TextLayer | undefined> {
  let page
  const items: (TextItem & FontSample)[] = []
  try {
    page = await document.getPage(number)
    const stream = page.streamTextContent({
      includeMarkedContent: true,
      disableNormalization: true,
    })
    // Its declaration leaves out what the stream is of.
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
    const parsed = { page: number, ...joinItems(items) }
    const characters = parsed.text.replaceAll(/\s/g, '').length
    const isGarbled = isGarbledPage(items)
    const isUsable = !isGarbled && (characters >= FEW_CHARACTERS || (characters > 0 && !(await showsPictures(page))))
    return { page: parsed, isGarbled, isUsable }
  } catch (error) {
    if (error instanceof ParseFailure) throw error
    return undefined
  } finally {
    page?.cleanup()
  }
}

const PICTURE_OPERATORS = new Set<number>([
  OPS.paintImageXObject,
  OPS.paintInlineImageXObject,
  OPS.paintImageMaskXObject,
])

async function showsPictures(page: Awaited<ReturnType<PdfDocument['getPage']>>): Promise<boolean> {
  const { fnArray } = await page.getOperatorList()
  return fnArray.some((operator) => PICTURE_OPERATORS.has(operator))
}

const isTextItem = (item: object): item is TextItem & FontSample => 'str' in item

const isNamed = (thrown: unknown, name: string): boolean => thrown instanceof Error && thrown.name === name
