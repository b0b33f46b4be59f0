import { fileTypeOf } from '#contract/file-types.ts'

interface ViewerKind {
  body: 'pdf' | 'image' | 'text'
  unit: 'Page' | 'Section' | 'Sheet'
  /** Whether line breaks may come from a column width. */
  hardWrapped: boolean
}

const UNITS = { page: 'Page', section: 'Section', sheet: 'Sheet' } as const

export function viewerKind(mimetype: string): ViewerKind {
  const type = fileTypeOf(mimetype)
  const viewer = type?.viewer ?? 'text'
  const unit = type?.unit ?? (viewer === 'text' ? 'section' : 'page')
  return { body: viewer, unit: UNITS[unit], hardWrapped: type?.hasHardWraps === true }
}
