import { UPLOAD_TYPES } from '#contract/limits.ts'
import { documentPart } from '#web/lib/documents/document-parts.ts'

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
  switch (mimetype) {
    case UPLOAD_TYPES.pdf:
      return { body: 'pdf', unit: 'Page', hardWrapped: false }
    case UPLOAD_TYPES.jpg:
    case UPLOAD_TYPES.png:
      return { body: 'image', unit: 'Page', hardWrapped: false }
    default:
      return {
        body: 'text',
        unit: UNITS[documentPart(mimetype) ?? 'section'],
        hardWrapped: mimetype === UPLOAD_TYPES.txt,
      }
  }
}
