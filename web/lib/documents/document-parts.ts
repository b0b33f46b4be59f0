import { UPLOAD_TYPES } from '#contract/limits.ts'

/** What a document consists of. */
export type Part = 'page' | 'section' | 'sheet'

/** By media type; a picture has no parts. */
const PARTS: Readonly<Record<string, Part>> = {
  [UPLOAD_TYPES.pdf]: 'page',
  [UPLOAD_TYPES.xls]: 'sheet',
  [UPLOAD_TYPES.xlsx]: 'sheet',
  [UPLOAD_TYPES.doc]: 'section',
  [UPLOAD_TYPES.docx]: 'section',
  [UPLOAD_TYPES.txt]: 'section',
}

/** What a part of a document of this media type is; null where it has none. */
export const documentPart = (mimetype: string): Part | null => PARTS[mimetype] ?? null

/** What one part of a document of this media type is called, or several; those of a picture are its one page. */
export function partName(mimetype: string, count: number): string {
  const part = documentPart(mimetype) ?? 'page'
  return count === 1 ? part : `${part}s`
}

/** The media type that a name promises; undefined where it promises none. */
export function mediaTypeByName(filename: string): string | undefined {
  const ending = /\.(\w+)$/.exec(filename)?.[1]?.toLowerCase() ?? ''
  const types: Readonly<Record<string, string>> = UPLOAD_TYPES
  return Object.hasOwn(types, ending) ? types[ending] : undefined
}
