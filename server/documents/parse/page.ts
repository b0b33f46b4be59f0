/** What every reader yields, whatever the type of the file. */
import { type ItemRun, type SheetRow, type WordBox } from '#contract/document.ts'

export { type SheetRow, type WordBox }

/** One page, one sheet, or one section where the format has neither. Offsets are UTF-16 code units in `text`. */
export interface ParsedPage {
  readonly page: number
  readonly text: string
  /** For pdf: which stretch of the text came from which item of the viewer's text layer. */
  readonly items?: readonly ItemRun[]
  readonly headings?: readonly Heading[]
  /** For workbooks: where each row of the sheet begins. */
  readonly rows?: readonly SheetRow[]
  /** For pages read by OCR: where each word stands. */
  readonly boxes?: readonly WordBox[]
  /** For pages read by OCR, 0 to 100. */
  readonly confidence?: number
  /** Not all of the page is in `text`. */
  readonly isCut?: true
}

/** Where a heading begins, and its words. */
export type Heading = readonly [offset: number, text: string]

/** A reader first says how many pages there will be, then yields them in order, and before OCR which page it turns to. */
export type ParsedPart = { readonly pages: number } | { readonly recognising: number } | ParsedPage

export type Parser = (bytes: Uint8Array) => AsyncGenerator<ParsedPart>

export const MAX_PAGE_CHARACTERS = 500_000
export const MAX_PAGES = 10_000
export const MAX_DOCUMENT_CHARACTERS = 26_500_000

/** PostgreSQL's text cannot hold U+0000. Replaced one for one, so that offsets stay true. */
export const withoutNul = (text: string): string => (text.includes('\0') ? text.replaceAll('\0', ' ') : text)
