import mammoth from 'mammoth'
import { isOleFile } from '#server/documents/ole.ts'
import { ParseFailure } from './failure.ts'
import { blocksOfHtml } from './html-blocks.ts'
import { MAX_PAGES, type ParsedPart } from './page.ts'
import { refuseBomb } from './refuse-bomb.ts'
import { type Block, groupSections } from './sections.ts'
import { extractWordBlocks } from './word-text.ts'

/** Reads a Word document; a docx knows no pages, so its sections at headings are numbered instead. */
export async function* parse(bytes: Uint8Array): AsyncGenerator<ParsedPart> {
  if (isOleFile(bytes)) throw new ParseFailure('encrypted')
  await refuseBomb(bytes)
  const sections = groupSections(await readBlocks(bytes))
  if (sections.length > MAX_PAGES) throw new ParseFailure('too_large')
  yield { pages: sections.length }
  yield* sections
}

async function readBlocks(bytes: Uint8Array): Promise<Block[]> {
  try {
    const html = await mammoth.convertToHtml(
      { buffer: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) },
      { convertImage: mammoth.images.imgElement(async () => ({ src: '' })) },
    )
    return blocksOfHtml(html.value)
  } catch (error) {
    // The words without their structure are better than nothing.
    return extractWordBlocks(bytes).catch(() => {
      throw new ParseFailure('damaged', { cause: error })
    })
  }
}
