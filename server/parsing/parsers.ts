import { UPLOAD_TYPES } from '#contract/limits.ts'
import { type Parser } from './page.ts'

/** The stored media type to the reader of that type; each is loaded only in the process that reads such a file. */
const LOADERS: Readonly<Record<string, () => Promise<{ parse: Parser }>>> = {
  [UPLOAD_TYPES.pdf]: () => import('./pdf/parse-pdf.ts'),
  [UPLOAD_TYPES.doc]: () => import('./doc-legacy/parse-doc.ts'),
  [UPLOAD_TYPES.docx]: () => import('./docx/parse-docx.ts'),
  [UPLOAD_TYPES.xls]: () => import('./spreadsheet/parse-workbook.ts'),
  [UPLOAD_TYPES.xlsx]: () => import('./spreadsheet/parse-workbook.ts'),
  [UPLOAD_TYPES.txt]: () => import('./text/parse-text.ts'),
  [UPLOAD_TYPES.jpg]: () => import('./image/parse-image.ts'),
  [UPLOAD_TYPES.png]: () => import('./image/parse-image.ts'),
}

/** Only accepted types are ever stored. */
export async function loadParser(mimetype: string): Promise<Parser> {
  const load = LOADERS[mimetype]
  if (!load) throw new Error(`there is no reader of ${mimetype}`)
  return (await load()).parse
}
