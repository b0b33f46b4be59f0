import { type FileType, fileTypeOf, UPLOAD_TYPES } from '#contract/file-types.ts'

export type Part = NonNullable<FileType['unit']>

export const documentPart = (mimetype: string): Part | null => fileTypeOf(mimetype)?.unit ?? null

/** The word for `count` parts of a document; an image is one page. */
export function partName(mimetype: string, count: number): string {
  const part = documentPart(mimetype) ?? 'page'
  return count === 1 ? part : `${part}s`
}

export function mediaTypeByName(filename: string): string | undefined {
  const ending = /\.(\w+)$/.exec(filename)?.[1]?.toLowerCase() ?? ''
  const types: Readonly<Record<string, string>> = UPLOAD_TYPES
  return Object.hasOwn(types, ending) ? types[ending] : undefined
}
