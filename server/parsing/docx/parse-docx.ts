import mammoth from 'mammoth'
import { z } from 'zod'
import { isCompoundFile } from '#server/parsing/containers/compound-streams.ts'
import { rejectZipBomb } from '#server/parsing/containers/reject-zip-bomb.ts'
import type { ZipEntry } from '#server/parsing/containers/zip-directory.ts'
import { extractWordBlocks } from '#server/parsing/doc-legacy/recover-text.ts'
import { ParseFailure } from '#server/parsing/failure.ts'
import { findMarginBlocks } from '#server/parsing/margins.ts'
import { MAX_PAGES, type ParsedPart } from '#server/parsing/page.ts'
import { type Block, groupSections } from '#server/parsing/sections.ts'
import { readChunk } from './embedded-files.ts'
import { findHtmlBlocks } from './html-blocks.ts'
import { type DocxChunk, type DocxFile, openDocx } from './parts.ts'

interface Mammoth {
  readonly convertToHtml: (
    input: { readonly file: DocxFile },
    options: { readonly convertImage: unknown; readonly styleMap: readonly string[] },
  ) => Promise<{ readonly value: string }>
}
const { convertToHtml } = z.custom<Mammoth>().parse(mammoth)
/** Comments are read only if a style maps their references. */
const styleMap = ['comment-reference => sup']
const convertImage = mammoth.images.imgElement(async () => ({ src: '' }))

/** The format has no pages, so sections are numbered instead. */
export async function* parse(bytes: Uint8Array): AsyncGenerator<ParsedPart> {
  if (isCompoundFile(bytes)) throw new ParseFailure('encrypted')
  const entries = await rejectZipBomb(bytes)
  const sections = groupSections(await readBlocks(bytes, entries))
  if (sections.length > MAX_PAGES) throw new ParseFailure('too_large')
  yield { pages: sections.length }
  yield* sections
}

async function readBlocks(bytes: Uint8Array, entries: readonly ZipEntry[]): Promise<Block[]> {
  try {
    const { main, margins, chunks } = openDocx(bytes, entries)
    const body = await insertChunks(await convertToBlocks(main), chunks)
    const marginBlocks: Block[] = []
    // A broken header must not lose the text.
    for (const margin of margins) marginBlocks.push(...(await convertToBlocks(margin).catch(() => [])))
    return [...body, ...findMarginBlocks(marginBlocks, body)]
  } catch (error) {
    if (error instanceof ParseFailure) throw error
    return extractWordBlocks(bytes).catch(() => {
      throw new ParseFailure('damaged', { cause: error })
    })
  }
}

const convertToBlocks = async (file: DocxFile): Promise<Block[]> =>
  findHtmlBlocks((await convertToHtml({ file }, { convertImage, styleMap })).value)

async function insertChunks(blocks: readonly Block[], chunks: readonly DocxChunk[]): Promise<Block[]> {
  let result = [...blocks]
  for (const { mark, read } of chunks) {
    const at = result.findIndex(({ text }) => text.includes(mark))
    const block = result[at]
    if (!block) continue
    const inside = await readChunkBlocks(read).catch(() => [])
    const words = inside.map(({ text }) => text.replaceAll(/\s+/g, ' ')).join(' ')
    const replaced = block.text === mark ? inside : [{ ...block, text: block.text.replace(mark, () => words) }]
    result = [...result.slice(0, at), ...replaced, ...result.slice(at + 1)]
  }
  return result
}

async function readChunkBlocks(read: () => Uint8Array): Promise<Block[]> {
  const bytes = read()
  if (!startsZip(bytes)) return readChunk(bytes)
  // Chunks of embedded documents are not read: only hostile files nest further.
  return convertToBlocks(openDocx(bytes, await rejectZipBomb(bytes)).main)
}

const startsZip = (bytes: Uint8Array): boolean => bytes[0] === 0x50 && bytes[1] === 0x4b
