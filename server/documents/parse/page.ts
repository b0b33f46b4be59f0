/** What every reader yields, whatever the type of the file. */
import { type ItemRun } from '#contract/document.ts'

/** One page, or one section where the format has no pages. Offsets are UTF-16 code units in `text`. */
export interface ParsedPage {
  readonly page: number
  readonly text: string
  /** For pdf: which stretch of the text came from which item of the viewer's text layer. */
  readonly items?: readonly ItemRun[]
  readonly headings?: readonly Heading[]
}

/** Where a heading begins, and its words. */
export type Heading = readonly [offset: number, text: string]

/** A reader first says how many pages there will be, then yields them in order. */
export type ParsedPart = { readonly pages: number } | ParsedPage

export type Parser = (bytes: Uint8Array) => AsyncGenerator<ParsedPart>

export const MAX_PAGE_CHARACTERS = 500_000
export const MAX_PAGES = 10_000
export const MAX_DOCUMENT_CHARACTERS = 26_500_000

/** PostgreSQL's text cannot hold U+0000. Replaced one for one, so that offsets stay true. */
export const withoutNul = (text: string): string => (text.includes('\0') ? text.replaceAll('\0', ' ') : text)
