/** Finds blocks in the well-formed HTML that mammoth writes; other HTML is not supported. */
import { addressBehind } from '#server/parsing/links.ts'
import type { Block } from '#server/parsing/sections.ts'
import { decodeSymbolMarks } from '#server/parsing/symbol-fonts.ts'

const TOKEN = /<(\/?)([a-z][a-z0-9]*)([^>]*)>|([^<]+)/g
const ENTITIES: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&amp;': '&',
  '&quot;': '"',
  '&nbsp;': ' ',
  '&#39;': "'",
}
const ROW_END = '\u001e'
/** A footnote or endnote; the text refers to it by number: "[1]". */
const NOTE = /\bid="[^"]*(?:foot|end)note-/
/** Text of the link that leads from a note or comment back to its place. */
const BACK_LINK = '↑'
const HREF = /\bhref="([^"]*)"/
const HEADING_TAG = /^h[1-6]$/
const BOLD_HEADING_MAX_CHARACTERS = 90
const BOLD_LEVEL = 6

const decode = (text: string): string =>
  text.replace(/&(lt|gt|amp|quot|nbsp|#39);/g, (entity) => ENTITIES[entity] ?? entity)

const normaliseBlanks = (text: string): string =>
  text
    .replaceAll(/[^\S\n]+/g, ' ')
    .replaceAll(/ ?\n ?/g, '\n')
    .trim()

/** Cells are separated by " | "; a cell that spans rows is repeated. A short bold paragraph is a heading. */
export function findHtmlBlocks(html: string): Block[] {
  const blocks: Block[] = []
  const rows: string[][] = []
  const tables: SpannedCells[] = []
  const cells: string[] = []
  let tableLines: string[] = []
  let text = ''
  let boldCharacters = 0
  let boldDepth = 0
  let notes = 0
  // Bookmarks are elements of links too, perhaps inside a link.
  const links: { readonly target: string; readonly start: number }[] = []

  const takeText = (): string => {
    const taken = normaliseBlanks(text)
    text = ''
    return taken
  }
  const endBlock = (kind: Block['kind'], level = BOLD_LEVEL) => {
    const isBold = boldCharacters > 0 && boldCharacters >= text.trim().length
    boldCharacters = 0
    if (rows.length > 0) {
      text += text === '' || text.endsWith('\n') ? '' : '\n'
      return
    }
    const taken = takeText()
    if (taken === '') return
    const isHeading =
      kind === 'heading' ||
      (kind === 'paragraph' && isBold && taken.length <= BOLD_HEADING_MAX_CHARACTERS && !/[.:;,]$/.test(taken))
    blocks.push(isHeading ? { kind: 'heading', text: taken, level } : { kind, text: taken })
  }
  const endTable = () => {
    if (tableLines.length > 0 && rows.length === 0) {
      blocks.push({ kind: 'table', text: tableLines.join('\n') })
      tableLines = []
    }
  }

  for (const [, slash, tag, attributes = '', words] of html.matchAll(TOKEN)) {
    if (words !== undefined) {
      const decoded = decodeSymbolMarks(decode(words)).replaceAll('\n', ' ')
      text += decoded
      if (boldDepth > 0) boldCharacters += decoded.trim().length
      continue
    }
    const isEnd = slash === '/'
    switch (tag) {
      case 'br':
        text += '\n'
        break
      case 'input':
        text += attributes.includes('checked=') ? '☒' : '☐'
        break
      case 'a':
        if (!isEnd) links.push({ target: decode(HREF.exec(attributes)?.[1] ?? ''), start: text.length })
        else {
          const link = links.pop()
          if (!link) break
          if (link.target.startsWith('#') && text.slice(link.start) === BACK_LINK) {
            text = text.slice(0, link.start)
            break
          }
          const address = addressBehind(text.slice(link.start), link.target)
          text += address
          if (boldDepth > 0) boldCharacters += address.trim().length
        }
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
        appendRow(rows.pop() ?? [])
        break
      case 'td':
      case 'th':
        if (isEnd) endCell(cells.pop() ?? '')
        else cells.push(attributes)
        break
      case 'table':
        if (isEnd) {
          tables.pop()
          endTable()
        } else tables.push([])
        break
      case 'dt':
        text += ' '
        break
      case 'li':
        endBlock('list')
        if (!isEnd && NOTE.test(attributes)) {
          notes += 1
          text = `[${notes}] `
        }
        break
      case 'p':
        if (isEnd) endBlock('paragraph')
        break
      default:
        if (isEnd && tag !== undefined && HEADING_TAG.test(tag)) endBlock('heading', Number(tag[1]))
    }
  }
  endBlock('paragraph')
  return blocks

  function endCell(attributes: string): void {
    const [row, spanned = []] = [rows.at(-1), tables.at(-1)]
    if (!row) return
    const words = takeText()
      .replaceAll('\n', ' ')
      .replace(/\u001e$/, '')
      .replaceAll(ROW_END, ';')
    const [width, height] = [spanOf(attributes, 'colspan'), spanOf(attributes, 'rowspan')]
    addSpanned(row, spanned)
    for (let column = 0; column < width; column += 1) {
      const shown = column === 0 ? words : ''
      if (height > 1)
        spanned[row.length] = { text: shown.length > MAX_REPEATED_CHARACTERS ? '' : shown, rowsLeft: height - 1 }
      row.push(shown)
    }
  }

  function appendRow(row: string[]): void {
    addSpanned(row, tables.at(-1) ?? [])
    while (row.at(-1) === '') row.pop()
    if (row.length === 0) return
    if (rows.length > 0) text += `${row.filter((words) => words !== '').join(', ')}${ROW_END}\n`
    else tableLines.push(row.join(' | '))
  }
}

type SpannedCells = ({ readonly text: string; readonly rowsLeft: number } | undefined)[]

const MAX_REPEATED_CHARACTERS = 120
const MAX_SPAN = 1_000

const spanOf = (attributes: string, name: string): number =>
  Math.min(MAX_SPAN, Number(new RegExp(`${name}="(\\d+)"`).exec(attributes)?.[1] ?? 1))

function addSpanned(row: string[], spanned: SpannedCells): void {
  for (let cell = spanned[row.length]; cell; cell = spanned[row.length]) {
    spanned[row.length] = cell.rowsLeft > 1 ? { ...cell, rowsLeft: cell.rowsLeft - 1 } : undefined
    row.push(cell.text)
  }
}
