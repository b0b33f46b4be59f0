import { type FileType, fileTypeOf, UPLOAD_TYPES } from '#contract/file-types.ts'

/** What a document consists of. */
export type Part = NonNullable<FileType['unit']>

/** What a part of a document of this media type is; null where it has none. */
export const documentPart = (mimetype: string): Part | null => fileTypeOf(mimetype)?.unit ?? null

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
