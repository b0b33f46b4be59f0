import mammoth from 'mammoth'
import { sourceOfBytes } from '#server/documents/byte-source.ts'
import { isOleFile } from '#server/documents/ole.ts'
import { listZipEntries } from '#server/documents/zip-directory.ts'
import { ParseFailure } from './failure.ts'
import { blocksOfHtml } from './html-blocks.ts'
import { MAX_PAGES, type ParsedPart } from './page.ts'
import { groupSections } from './sections.ts'

const MAX_UNPACKED_BYTES = 150 * 1024 * 1024
const MAX_RATIO = 100
/** Small parts of a document that is mostly empty may well shrink further than that. */
const RATIO_COUNTS_FROM_BYTES = 8 * 1024 * 1024

/** Reads a Word document; a docx knows no pages, so its sections at headings are numbered instead. */
export async function* parse(bytes: Uint8Array): AsyncGenerator<ParsedPart> {
  if (isOleFile(bytes)) throw new ParseFailure('encrypted')
  await refuseBomb(bytes)
  const html = await mammoth
    .convertToHtml(
      { buffer: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) },
      { convertImage: mammoth.images.imgElement(async () => ({ src: '' })) },
    )
    .catch((error: unknown) => {
      throw new ParseFailure('damaged', { cause: error })
    })
  const sections = groupSections(blocksOfHtml(html.value))
  if (sections.length > MAX_PAGES) throw new ParseFailure('too_large')
  yield { pages: sections.length }
  yield* sections
}

async function refuseBomb(bytes: Uint8Array): Promise<void> {
  const entries = await listZipEntries(sourceOfBytes(bytes))
  if (!entries) throw new ParseFailure('damaged')
  const total = entries.reduce((sum, { uncompressedSize }) => sum + uncompressedSize, 0)
  const isBomb = entries.some(
    ({ compressedSize, uncompressedSize }) =>
      uncompressedSize > RATIO_COUNTS_FROM_BYTES && uncompressedSize > MAX_RATIO * compressedSize,
  )
  if (total > MAX_UNPACKED_BYTES || isBomb) throw new ParseFailure('too_large')
}
