import type { DocumentLanguage, ItemRun, PageBlock, PageGap, SheetRow, WordBox } from '#contract/document.ts'

export { type SheetRow, type WordBox }

/** One page, sheet or section. Offsets are UTF-16 code units in `text`. */
export interface ParsedPage {
  readonly page: number
  readonly text: string
  /** pdf: maps ranges of the text to items of the viewer's text layer. */
  readonly items?: readonly ItemRun[]
  readonly headings?: readonly Heading[]
  readonly blocks?: readonly PageBlock[]
  readonly rows?: readonly SheetRow[]
  /** Workbooks: column numbers (A is 1) of the cells of every line. */
  readonly columns?: readonly number[]
  readonly boxes?: readonly WordBox[]
  readonly confidence?: number
  readonly isCut?: true
  readonly gap?: PageGap
}

export type Heading = readonly [offset: number, text: string]

/** The page count comes first. `recognising` announces a page before OCR; `deferred` leaves it to another process. */
export type ParsedPart =
  { readonly pages: number } | { readonly recognising: number } | { readonly deferred: number } | ParsedPage

export interface ParseOptions {
  /** Chosen by the person, likeliest first. */
  readonly languages: readonly DocumentLanguage[]
  /** Pages to read, with OCR if needed; if absent, all pages are read and those that need OCR are deferred. */
  readonly pages?: readonly number[]
  /** Those of `pages` whose recognition takes too long: they are read without OCR. */
  readonly tooSlow?: readonly number[]
}

export type Parser = (bytes: Uint8Array, options: ParseOptions) => AsyncGenerator<ParsedPart>

export const MAX_PAGE_CHARACTERS = 500_000
export const MAX_PAGES = 10_000
export const MAX_DOCUMENT_CHARACTERS = 26_500_000

/** PostgreSQL's text cannot hold U+0000. Replaced one for one, so offsets stay valid. */
export const withoutNul = (text: string): string => (text.includes('\0') ? text.replaceAll('\0', ' ') : text)
