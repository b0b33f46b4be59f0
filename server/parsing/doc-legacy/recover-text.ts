/** Recovers text, and the structure that the text implies, if the document's structure is lost. */
import WordExtractor from 'word-extractor'
import type { Block } from '#server/parsing/sections.ts'
import { BULLETS, decodeSymbolMarks } from '#server/parsing/symbol-fonts.ts'

const HEADING_MAX_CHARACTERS = 80
const LIST_ITEM = new RegExp(String.raw`^(?:[${BULLETS}]\s?[\p{L}\p{N}]|[–-]\s?\p{L})`, 'u')
const KEEP_QUOTES = { filterUnicode: false }

/** @throws Error if the file is damaged, encrypted or older than Word 97. */
export async function extractWordBlocks(bytes: Uint8Array): Promise<Block[]> {
  const extracted = await new WordExtractor().extract(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  return [
    extracted.getBody(KEEP_QUOTES),
    extracted.getTextboxes(KEEP_QUOTES),
    extracted.getFootnotes(KEEP_QUOTES),
    extracted.getEndnotes(KEEP_QUOTES),
  ].flatMap(findWordBlocks)
}

export const headingMark = (level: number): string => String.fromCharCode(FIRST_MARK + level)
/** Unicode noncharacters, reserved for internal use. */
const FIRST_MARK = 0xfdd0
const HEADING_MARK = /^[\ufdd1-\ufdd9]/
const HEADING_MARKS = /[\ufdd1-\ufdd9]/g

/** Table rows end in a tab or match a neighbour's tabs. Without marks, a short line before a long one is a heading. */
export function findWordBlocks(text: string): Block[] {
  const marked = decodeSymbolMarks(text)
    .replaceAll(/\r\n?|[\f\v]/g, '\n')
    .replaceAll(/[\0-\u0008\u000e-\u001f]/g, ' ')
    .split('\n')
  const blocks: Block[] = []
  const levels = marked.map((line) => (HEADING_MARK.test(line) ? line.charCodeAt(0) - FIRST_MARK : undefined))
  const hasMarks = levels.some((level) => level !== undefined)
  const lines = marked.map((line) => line.replaceAll(HEADING_MARKS, ''))
  let rows: string[] = []
  const endTable = () => {
    if (rows.length > 0) blocks.push({ kind: 'table', text: rows.join('\n') })
    rows = []
  }
  for (const [index, line] of lines.entries()) {
    if (isRow(lines, index)) {
      rows.push(cellsOf(line).join(' | '))
      continue
    }
    endTable()
    const words = line.replaceAll(/[\t ]+/g, ' ').trim()
    if (words === '') continue
    const level = levels[index]
    if (level !== undefined) blocks.push({ kind: 'heading', text: words, level })
    else if (LIST_ITEM.test(words)) blocks.push({ kind: 'list', text: words })
    else
      blocks.push({
        kind: (!hasMarks || blocks.length === 0) && isHeading(words, lines, index) ? 'heading' : 'paragraph',
        text: words,
      })
  }
  endTable()
  return blocks
}

function cellsOf(line: string): string[] {
  const cells = line.split('\t').map((cell) => cell.replaceAll(/ {2,}/g, ' ').trim())
  while (cells.at(-1) === '') cells.pop()
  return cells
}

const countTabs = (line: string | undefined): number => (line?.match(/\t/g) ?? []).length

function isRow(lines: readonly string[], index: number): boolean {
  const line = lines[index] ?? ''
  const tabs = countTabs(line)
  if (tabs === 0 || cellsOf(line).length === 0) return false
  return line.endsWith('\t') || countTabs(lines[index - 1]) === tabs || countTabs(lines[index + 1]) === tabs
}

function isHeading(words: string, lines: readonly string[], index: number): boolean {
  if (words.length > HEADING_MAX_CHARACTERS || /[.:;,!?…]$/.test(words) || !/\p{L}{2}/u.test(words)) return false
  const next = lines.slice(index + 1, index + 4).find((line) => line.trim() !== '')
  return next !== undefined && !next.includes('\t') && next.length > HEADING_MAX_CHARACTERS
}
