import { UPLOAD_TYPES } from '#contract/limits.ts'

interface ReaderKind {
  body: 'pdf' | 'image' | 'text'
  /** What the parts of such a document are called. */
  unit: 'Page' | 'Section' | 'Sheet'
  /** Whether line breaks in its text may come from a column width and mean nothing. */
  hardWrapped: boolean
}

/** How a document of a media type is shown. */
export function readerKind(mimetype: string): ReaderKind {
  switch (mimetype) {
    case UPLOAD_TYPES.pdf:
      return { body: 'pdf', unit: 'Page', hardWrapped: false }
    case UPLOAD_TYPES.jpg:
    case UPLOAD_TYPES.png:
      return { body: 'image', unit: 'Page', hardWrapped: false }
    case UPLOAD_TYPES.xls:
    case UPLOAD_TYPES.xlsx:
      return { body: 'text', unit: 'Sheet', hardWrapped: false }
    default:
      return { body: 'text', unit: 'Section', hardWrapped: mimetype === UPLOAD_TYPES.txt }
  }
}
