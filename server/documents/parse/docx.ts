import mammoth from 'mammoth'
import { z } from 'zod'
import { isOleFile } from '#server/documents/ole.ts'
import { type ZipEntry } from '#server/documents/zip-directory.ts'
import { type DocxFile, openDocx } from './docx-parts.ts'
import { ParseFailure } from './failure.ts'
import { blocksOfHtml } from './html-blocks.ts'
import { blocksOfMargins } from './margins.ts'
import { MAX_PAGES, type ParsedPart } from './page.ts'
import { refuseBomb } from './refuse-bomb.ts'
import { type Block, groupSections } from './sections.ts'
import { extractWordBlocks } from './word-text.ts'

/** Its types leave out that a file may be given part by part. */
interface Mammoth {
  readonly convertToHtml: (
    input: { readonly file: DocxFile },
    options: { readonly convertImage: unknown; readonly styleMap: readonly string[] },
  ) => Promise<{ readonly value: string }>
}
const { convertToHtml } = z.custom<Mammoth>().parse(mammoth)
/** Comments are read only where something stands for their place in the text. */
const styleMap = ['comment-reference => sup']
const convertImage = mammoth.images.imgElement(async () => ({ src: '' }))

/** Reads a Word document; a docx knows no pages, so its sections at headings are numbered instead. */
export async function* parse(bytes: Uint8Array): AsyncGenerator<ParsedPart> {
  if (isOleFile(bytes)) throw new ParseFailure('encrypted')
  const entries = await refuseBomb(bytes)
  const sections = groupSections(await readBlocks(bytes, entries))
  if (sections.length > MAX_PAGES) throw new ParseFailure('too_large')
  yield { pages: sections.length }
  yield* sections
}

async function readBlocks(bytes: Uint8Array, entries: readonly ZipEntry[]): Promise<Block[]> {
  try {
    const { main, margins } = openDocx(bytes, entries)
    const body = await blocksOf(main)
    const said: Block[] = []
    // A broken header takes nothing from the text.
    for (const margin of margins) said.push(...(await blocksOf(margin).catch(() => [])))
    return [...body, ...blocksOfMargins(said, body)]
  } catch (error) {
    if (error instanceof ParseFailure) throw error
    // The words without their structure are better than nothing.
    return extractWordBlocks(bytes).catch(() => {
      throw new ParseFailure('damaged', { cause: error })
    })
  }
}

const blocksOf = async (file: DocxFile): Promise<Block[]> =>
  blocksOfHtml((await convertToHtml({ file }, { convertImage, styleMap })).value)
