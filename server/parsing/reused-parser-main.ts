/**
 * Entry point of a process for many small files of one person and one type: for each a line of JSON (`FileHeader`), then as
 * many bytes as it says, on standard input; messages as those of `parser-main.ts` on standard output, and `ready` once the
 * next file may come.
 */
import { fileTypeOf } from '#contract/file-types.ts'
import { endProcess } from '#server/parsing/sandbox/end-process.ts'
import { readFiles } from '#server/parsing/sandbox/read-files.ts'
import type { Parser } from './page.ts'
import { loadParser } from './parsers.ts'

/** The library of PDF loads parts of itself and changes globals when it reads its first file: a page without content. */
const EMPTY_PDF = `%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj
trailer<</Root 1 0 R>>`

async function load(): Promise<Parser> {
  const mimetype = process.argv[2] ?? ''
  const parse = await loadParser(mimetype)
  if (fileTypeOf(mimetype)?.parser === 'pdf') {
    const parts = parse(new TextEncoder().encode(EMPTY_PDF), { languages: [] })
    while ((await parts.next()).done !== true);
  }
  return parse
}

await readFiles(load)
endProcess()
