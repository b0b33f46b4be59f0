import { fileTypeOf, type FileType } from '#contract/file-types.ts'
import { ATTACHABLE_PARSERS } from './attachable-parsers.ts'
import type { Parser } from './page.ts'

/** Loaded on demand: a parser process needs only one of them. */
const PARSERS: Readonly<Record<FileType['parser'], () => Promise<{ parse: Parser }>>> = {
  pdf: () => import('./pdf/parse-pdf.ts'),
  ...ATTACHABLE_PARSERS,
  image: () => import('./image/parse-image.ts'),
}

export async function loadParser(mimetype: string): Promise<Parser> {
  const type = fileTypeOf(mimetype)
  if (!type) throw new Error(`there is no parser of ${mimetype}`)
  return (await PARSERS[type.parser]()).parse
}
