import { fileTypeOf } from '#contract/file-types.ts'

interface ReaderKind {
  body: 'pdf' | 'image' | 'text'
  /** What the parts of such a document are called. */
  unit: 'Page' | 'Section' | 'Sheet'
  /** Whether line breaks in its text may come from a column width and mean nothing. */
  hardWrapped: boolean
}

const UNITS = { page: 'Page', section: 'Section', sheet: 'Sheet' } as const

/** How a document of a media type is shown. */
export function readerKind(mimetype: string): ReaderKind {
  const type = fileTypeOf(mimetype)
  const viewer = type?.viewer ?? 'text'
  const unit = type?.unit ?? (viewer === 'text' ? 'section' : 'page')
  return { body: viewer, unit: UNITS[unit], hardWrapped: type?.hasHardWraps === true }
}
