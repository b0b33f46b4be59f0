import { ParseFailure } from '#server/parsing/failure.ts'
import { findMarginBlocks } from '#server/parsing/margins.ts'
import { MAX_PAGES, type ParsedPart } from '#server/parsing/page.ts'
import { groupSections } from '#server/parsing/sections.ts'
import { readWordBinary, type WordParts } from './binary-format.ts'
import { findWordBlocks } from './recover-text.ts'

/** The format has no pages, so sections are numbered instead. */
export async function* parse(bytes: Uint8Array): AsyncGenerator<ParsedPart> {
  const { body, textboxes, footnotes, endnotes, comments, headers, headerTextboxes } = read(bytes)
  const blocks = [body, textboxes, footnotes, endnotes, comments].flatMap(findWordBlocks)
  const margins = [headers, headerTextboxes].flatMap(findWordBlocks)
  const sections = groupSections([...blocks, ...findMarginBlocks(margins, blocks)])
  if (sections.length > MAX_PAGES) throw new ParseFailure('too_large')
  yield { pages: sections.length }
  yield* sections
}

function read(bytes: Uint8Array): WordParts {
  try {
    return readWordBinary(bytes, { marksHeadings: true })
  } catch (error) {
    if (error instanceof ParseFailure) throw error
    throw new ParseFailure('damaged', { cause: error })
  }
}
