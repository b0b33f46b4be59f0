import type { PassageSource } from '#contract/source.ts'

const WORKBOOK = /\.xlsx?$/i

/** A sheet's text begins with its name, and so does the heading of what stands further down; no name holds a colon. */
function sheetOf({ heading, start, text }: PassageSource): string | undefined {
  return heading?.split(': ')[0] ?? (start === 0 ? text.split('\n')[0] : undefined)
}

/**
 * Where in its file a passage stands: a sheet is known by its name, everything else by its page.
 * @param words what is written before the number of a page, and before the name of a sheet.
 */
export function placeInFile(source: PassageSource, words: { readonly page: string; readonly sheet: string }): string {
  const sheet = WORKBOOK.test(source.filename) ? sheetOf(source) : undefined
  return sheet === undefined || sheet === '' ? `${words.page}${source.page}` : `${words.sheet}${sheet}`
}
