/** Blocks of the small, well-formed HTML that mammoth makes. Not for HTML from elsewhere. */
import { type Block } from './sections.ts'

const TOKEN = /<(\/?)([a-z][a-z0-9]*)[^>]*>|([^<]+)/g
const ENTITIES: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&amp;': '&',
  '&quot;': '"',
  '&nbsp;': ' ',
  '&#39;': "'",
}
const BOLD_HEADING_MAX_CHARACTERS = 90

const decode = (text: string): string =>
  text.replace(/&(lt|gt|amp|quot|nbsp|#39);/g, (entity) => ENTITIES[entity] ?? entity)

/** Table rows become lines with " | " between their cells; a short paragraph that is bold throughout counts as a heading. */
export function blocksOfHtml(html: string): Block[] {
  const blocks: Block[] = []
  const rows: string[][] = []
  let tableLines: string[] = []
  let text = ''
  let boldCharacters = 0
  let boldDepth = 0

  const takeText = (): string => {
    const taken = text
      .replaceAll(/[^\S\n]+/g, ' ')
      .replaceAll(/ ?\n ?/g, '\n')
      .trim()
    text = ''
    return taken
  }
  const endBlock = (kind: Block['kind']) => {
    const isBold = boldCharacters > 0 && boldCharacters >= text.trim().length
    boldCharacters = 0
    if (rows.length > 0) {
      text += text === '' || text.endsWith('\n') ? '' : '\n'
      return
    }
    const taken = takeText()
    if (taken === '') return
    const isHeading =
      kind === 'heading' || (isBold && taken.length <= BOLD_HEADING_MAX_CHARACTERS && !/[.:;,]$/.test(taken))
    blocks.push({ kind: isHeading ? 'heading' : 'paragraph', text: taken })
  }
  const endTable = () => {
    if (tableLines.length > 0 && rows.length === 0) {
      blocks.push({ kind: 'paragraph', text: tableLines.join('\n') })
      tableLines = []
    }
  }

  for (const [, slash, tag, words] of html.matchAll(TOKEN)) {
    if (words !== undefined) {
      const decoded = decode(words).replaceAll('↑', '').replaceAll('\n', ' ')
      text += decoded
      if (boldDepth > 0) boldCharacters += decoded.trim().length
      continue
    }
    const isEnd = slash === '/'
    switch (tag) {
      case 'br':
        text += '\n'
        break
      case 'strong':
        boldDepth += isEnd ? -1 : 1
        break
      case 'tr':
        if (!isEnd) {
          if (rows.length === 0) endBlock('paragraph')
          rows.push([])
          break
        }
        // A row of a table inside a cell ends up as words of that cell.
        appendRow(rows.pop() ?? [])
        break
      case 'td':
      case 'th':
        if (isEnd) rows.at(-1)?.push(takeText().replaceAll('\n', ' '))
        break
      case 'table':
        if (isEnd) endTable()
        break
      case 'li':
        endBlock('paragraph')
        break
      case 'p':
        if (isEnd) endBlock('paragraph')
        break
      case 'h1':
      case 'h2':
      case 'h3':
      case 'h4':
      case 'h5':
      case 'h6':
        if (isEnd) endBlock('heading')
        break
      default:
        break
    }
  }
  endBlock('paragraph')
  return blocks

  function appendRow(cells: readonly string[]): void {
    const line = cells.join(' | ')
    if (rows.length > 0) text += `${line}\n`
    else if (cells.some((cell) => cell !== '')) tableLines.push(line)
  }
}
