import { ParseFailure } from '#server/parsing/failure.ts'
import { MAX_PAGES, type ParsedPart } from '#server/parsing/page.ts'
import { groupSections } from '#server/parsing/sections.ts'
import { decodeText } from './decode-text.ts'

export async function* parse(bytes: Uint8Array): AsyncGenerator<ParsedPart> {
  const text = await decodeText(bytes)
  if (text === undefined) throw new ParseFailure('damaged')
  const paragraphs = text
    .replaceAll('\r\n', '\n')
    .replaceAll('\r', '\n')
    .split(/\n[^\S\n]*\n\s*/)
  const sections = groupSections(
    paragraphs
      .filter((paragraph) => paragraph.trim() !== '')
      .map((paragraph) => ({ kind: 'paragraph', text: paragraph })),
  )
  if (sections.length > MAX_PAGES) throw new ParseFailure('too_large')
  yield { pages: sections.length }
  yield* sections
}
