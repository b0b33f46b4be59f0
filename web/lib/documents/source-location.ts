import type { DocumentRow } from '#contract/document.ts'
import type { PassageSource } from '#contract/source.ts'
import { documentPart, mediaTypeByName, type Part } from './document-parts.ts'

type SourceLocation = Pick<PassageSource, 'filename' | 'page'> &
  Partial<Pick<PassageSource, 'mimetype' | 'heading' | 'start' | 'text'>>

/** A sheet's text begins with its name, and so does the heading of what stands further down; no name holds a colon. */
function sheetName({ heading, start, text }: SourceLocation): string | undefined {
  return heading?.split(': ')[0] ?? (start === 0 ? text?.split('\n')[0] : undefined)
}

/** How the part of a file is set behind its name: on a card, read out, and in a footnote. A named sheet is its name. */
const FORMS = {
  card: { page: ' p.', section: ' · section ', sheet: ' · sheet ', named: ' · ' },
  spoken: { page: ' page ', section: ' section ', sheet: ' sheet ', named: ' sheet ' },
  footnote: { page: ', p. ', section: ', section ', sheet: ', sheet ', named: ', ' },
} satisfies Record<string, Record<Part | 'named', string>>

/**
 * The file of a passage and where in it: the page, the section, or the sheet by its name. A picture has no parts to speak
 * of, nor has a text that is one section.
 * @param document what is known of it now; a source that does not say of which type it is, is judged by its name.
 */
export function describeSourceLocation(
  source: SourceLocation,
  form: keyof typeof FORMS,
  document?: Pick<DocumentRow, 'filename' | 'mimetype' | 'pages'> | null,
): string {
  const { filename, pages } = document ?? { filename: source.filename, pages: null }
  const mimetype = document?.mimetype ?? source.mimetype ?? mediaTypeByName(filename)
  // By a name that promises nothing.
  const part = mimetype === undefined ? 'page' : documentPart(mimetype)
  if (part === null || (part === 'section' && pages === 1)) return filename
  const sheet = part === 'sheet' ? sheetName(source) : undefined
  return sheet === undefined || sheet === ''
    ? `${filename}${FORMS[form][part]}${source.page}`
    : `${filename}${FORMS[form].named}${sheet}`
}
