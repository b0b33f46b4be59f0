/** What every reader yields, whatever the type of the file. */
import {
  type DocumentLanguage,
  type ItemRun,
  type PageBlock,
  type PageGap,
  type SheetRow,
  type WordBox,
} from '#contract/document.ts'

export { type SheetRow, type WordBox }

/** One page, one sheet, or one section where the format has neither. Offsets are UTF-16 code units in `text`. */
export interface ParsedPage {
  readonly page: number
  readonly text: string
  /** For pdf: which stretch of the text came from which item of the viewer's text layer. */
  readonly items?: readonly ItemRun[]
  readonly headings?: readonly Heading[]
  readonly blocks?: readonly PageBlock[]
  /** For workbooks: where each row of the sheet begins. */
  readonly rows?: readonly SheetRow[]
  /** For workbooks: the columns, A being 1, that the cells of every line stand in. */
  readonly columns?: readonly number[]
  /** For pages read by OCR: where each word stands. */
  readonly boxes?: readonly WordBox[]
  /** For pages read by OCR, 0 to 100. */
  readonly confidence?: number
  /** Not all of the page is in `text`. */
  readonly isCut?: true
  /** Why there is no text. */
  readonly gap?: PageGap
}

/** Where a heading begins, and its words. */
export type Heading = readonly [offset: number, text: string]

/**
 * A reader first says how many pages there will be, then yields them, and before OCR which page it turns to. Pages that it
 * leaves to others to recognise, or to recognise after it, are only named.
 */
export type ParsedPart =
  { readonly pages: number } | { readonly recognising: number } | { readonly deferred: number } | ParsedPage

export interface ParseOptions {
  /** What the person said the documents are in, likeliest first. */
  readonly languages: readonly DocumentLanguage[]
  /** The only pages to read, by OCR where they need it. Without them all are read, and those that need OCR are named. */
  readonly pages?: readonly number[]
}

export type Parser = (bytes: Uint8Array, options: ParseOptions) => AsyncGenerator<ParsedPart>

export const MAX_PAGE_CHARACTERS = 500_000
export const MAX_PAGES = 10_000
export const MAX_DOCUMENT_CHARACTERS = 26_500_000

/** PostgreSQL's text cannot hold U+0000. Replaced one for one, so that offsets stay true. */
export const withoutNul = (text: string): string => (text.includes('\0') ? text.replaceAll('\0', ' ') : text)
