import { createRequire } from 'node:module'
import path from 'node:path'
import { getDocument, VerbosityLevel } from 'pdfjs-dist/legacy/build/pdf.mjs'
import { ParseFailure } from './failure.ts'
import { MAX_PAGE_CHARACTERS, MAX_PAGES, type ParsedPage, type ParsedPart } from './page.ts'
import { joinItems, type TextItem } from './pdf-text.ts'

const packageFolder = path.dirname(createRequire(import.meta.url).resolve('pdfjs-dist/package.json'))
const folder = (name: string) => `${path.join(packageFolder, name)}${path.sep}`

type PdfDocument = Awaited<ReturnType<typeof getDocument>['promise']>

/**
 * Reads a pdf page by page. Item indexes count the items that have `str`, with marked content included and
 * normalisation off: the viewer's text layer, asked the same way, gives the same items in the same order.
 */
export async function* parse(bytes: Uint8Array): AsyncGenerator<ParsedPart> {
  const task = getDocument({
    data: bytes,
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
    for (let page = 1; page <= document.numPages; page += 1) {
      const parsed = await readPage(document, page)
      failedPages += parsed === undefined ? 1 : 0
      yield parsed ?? { page, text: '' }
    }
    if (failedPages === document.numPages) throw new ParseFailure('damaged')
  } finally {
    await task.destroy()
  }
}

/** A page that cannot be read leaves a gap, not a failure: the others are worth having. */
async function readPage(document: PdfDocument, number: number): Promise<ParsedPage | undefined> {
  let page
  const items: TextItem[] = []
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
  } catch (error) {
    if (error instanceof ParseFailure) throw error
    return undefined
  } finally {
    page?.cleanup()
  }
  return { page: number, ...joinItems(items) }
}

const isTextItem = (item: object): item is TextItem => 'str' in item

const isNamed = (thrown: unknown, name: string): boolean => thrown instanceof Error && thrown.name === name
