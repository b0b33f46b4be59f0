import type { DocumentRow } from '#contract/document.ts'
import type { PassageSource } from '#contract/source.ts'
import { documentPart, mediaTypeByName, type Part } from './document-parts.ts'

type SourceLocation = Pick<PassageSource, 'filename' | 'page'> &
  Partial<Pick<PassageSource, 'mimetype' | 'heading' | 'start' | 'text'>>

/** A sheet's text begins with its name, and so does the heading of later passages. No name contains a colon. */
function sheetName({ heading, start, text }: SourceLocation): string | undefined {
  return heading?.split(': ')[0] ?? (start === 0 ? text?.split('\n')[0] : undefined)
}

const FORMS = {
  card: { page: ' p.', section: ' · section ', sheet: ' · sheet ', named: ' · ' },
  spoken: { page: ' page ', section: ' section ', sheet: ' sheet ', named: ' sheet ' },
  footnote: { page: ', p. ', section: ', section ', sheet: ', sheet ', named: ', ' },
} satisfies Record<string, Record<Part | 'named', string>>

/** Without `document`, and without a type in the source, the file extension decides: page, section or sheet. */
export function describeSourceLocation(
  source: SourceLocation,
  form: keyof typeof FORMS,
  document?: Pick<DocumentRow, 'filename' | 'mimetype' | 'pages'> | null,
): string {
  const { filename, pages } = document ?? { filename: source.filename, pages: null }
  const mimetype = document?.mimetype ?? source.mimetype ?? mediaTypeByName(filename)
  // An unknown extension counts as pages.
  const part = mimetype === undefined ? 'page' : documentPart(mimetype)
  if (part === null || (part === 'section' && pages === 1)) return filename
  const sheet = part === 'sheet' ? sheetName(source) : undefined
  return sheet === undefined || sheet === ''
    ? `${filename}${FORMS[form][part]}${source.page}`
    : `${filename}${FORMS[form].named}${sheet}`
}
