/** Parsers that need no other: those of files which a PDF may have attached. Loaded on demand. */
import type { FileType } from '#contract/file-types.ts'
import type { Parser } from './page.ts'

export const ATTACHABLE_PARSERS: Readonly<
  Record<Exclude<FileType['parser'], 'pdf' | 'image'>, () => Promise<{ parse: Parser }>>
> = {
  doc: () => import('./doc-legacy/parse-doc.ts'),
  docx: () => import('./docx/parse-docx.ts'),
  workbook: () => import('./spreadsheet/parse-workbook.ts'),
  text: () => import('./text/parse-text.ts'),
}
