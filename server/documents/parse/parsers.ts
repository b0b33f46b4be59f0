import { type Parser } from './page.ts'

/** The stored media type to the reader of that type; each is loaded only in the process that reads such a file. */
const LOADERS: Readonly<Record<string, () => Promise<{ parse: Parser }>>> = {
  'application/pdf': () => import('./pdf.ts'),
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': () => import('./docx.ts'),
  'text/plain': () => import('./txt.ts'),
}

export async function loadParser(mimetype: string): Promise<Parser> {
  const { parse } = await (LOADERS[mimetype]?.() ?? import('./not-yet.ts'))
  return parse
}
