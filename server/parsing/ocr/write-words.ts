import { type WordBox, withoutNul } from '#server/parsing/page.ts'
import { type Cell, findCell, isSameCell, isSameRow, type RulingLines, touches } from './ruling-lines.ts'
import { SYLLABLES } from './fit-to-ink.ts'
import type { Word } from './tesseract.ts'

export interface PlacedWord {
  readonly offset: number
  readonly length: number
  readonly word: Word
}

interface FilledCell extends Cell {
  readonly words: Word[]
}

/** OCR reads the en dash of a range as an em dash. */
const DASH_OF_RANGE = /(?<=\d ?)—(?= ?\d)/g
const MIN_CELLS = 4
const SYLLABLE_END = new RegExp(`${SYLLABLES}$`, 'u')
const SYLLABLE_BEGINNING = new RegExp(`^${SYLLABLES}`, 'u')
/** Share of the height; Thai letters are low and spaced. */
const MIN_BLANK = 0.25
const THAI = /\p{Script=Thai}/u
const MIN_THAI_BLANK = 0.5
/** Chinese and Japanese have no blanks, only full-width punctuation. */
const UNSPACED_END = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]\p{P}?$/u
const UNSPACED_BEGINNING = /^\p{P}?[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]/u
const PUNCTUATION = /^\p{P}+$/u
/** Share of the height; a wider gap separates columns of a form. */
const MAX_PUNCTUATION_GAP = 1
const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}]/u
const HYPHENATED = /\p{L}[-‐\u00ad]$/u

export function writeWords(words: readonly Word[], rules: RulingLines): { text: string; placed: PlacedWord[] } {
  const placed: PlacedWord[] = []
  let text = ''
  const add = (word: Word, separator: string) => {
    text += separator
    const written = withoutNul(word.text)
    placed.push({ offset: text.length, length: written.length, word })
    text += written
  }
  const addLines = (lines: readonly Word[], first: string, lineSeparator: string) => {
    let previous: Word | undefined
    for (const word of lines) {
      let separator = first
      if (previous) separator = separatorBetween(previous, word, lineSeparator)
      const last = placed.at(-1)
      if (separator.startsWith('\n') && last && previous && HYPHENATED.test(text) && /^\p{Ll}/u.test(word.text)) {
        text = text.slice(0, -1)
        placed[placed.length - 1] = { ...last, length: last.length - 1 }
        separator = ''
      }
      add(word, separator)
      previous = word
    }
  }

  const { tables, rest } = extractTables(words, rules)
  let paragraph: Word[] = []
  const endParagraph = () => {
    addLines(paragraph, text === '' ? '' : '\n\n', '\n')
    paragraph = []
  }
  for (const entry of rest) {
    if (!('table' in entry)) {
      paragraph.push(entry)
      continue
    }
    endParagraph()
    for (const row of tables[entry.table] ?? []) {
      row.forEach((cell, column) => {
        const beginning = row === tables[entry.table]?.[0] ? (text === '' ? '' : '\n\n') : '\n'
        addLines(cell.words, column === 0 ? beginning : ' | ', ' ')
      })
    }
  }
  endParagraph()
  return { text: text.replaceAll(DASH_OF_RANGE, '–'), placed }
}

function separatorBetween(previous: Word, next: Word, lineSeparator: string): string {
  if (previous.line === next.line) return isJoined(previous, next) ? '' : ' '
  return lineSeparator === '\n' && previous.paragraph !== next.paragraph ? '\n\n' : lineSeparator
}

function isJoined(previous: Word, next: Word): boolean {
  const gap = next.left - (previous.left + previous.width)
  const height = Math.max(previous.height, next.height)
  const isSyllable = SYLLABLE_END.test(previous.text) || SYLLABLE_BEGINNING.test(next.text)
  const blank = THAI.test(previous.text) && THAI.test(next.text) ? MIN_THAI_BLANK : MIN_BLANK
  if (isSyllable && gap < blank * height) return true
  const isUnspaced =
    (UNSPACED_END.test(previous.text) && (UNSPACED_BEGINNING.test(next.text) || PUNCTUATION.test(next.text))) ||
    (PUNCTUATION.test(previous.text) && UNSPACED_BEGINNING.test(next.text))
  return isUnspaced && gap < MAX_PUNCTUATION_GAP * height
}

function extractTables(
  words: readonly Word[],
  rules: RulingLines,
): { tables: FilledCell[][][]; rest: (Word | { readonly table: number })[] } {
  const filled: FilledCell[] = []
  const cellOfWord = new Map<Word, FilledCell[]>()
  if (rules.vertical.length > 1 && rules.horizontal.length > 1) {
    for (const word of words) {
      const cell = findCell(word, rules)
      if (!cell) continue
      const known = filled.find((each) => isSameCell(each, cell))
      if (known) known.words.push(word)
      else filled.push({ ...cell, words: [word] })
    }
  }
  const groups = groupTouching(filled)
  for (const cells of groups) for (const cell of cells) for (const word of cell.words) cellOfWord.set(word, cells)
  const real = groups.filter((cells) => cells.length >= MIN_CELLS)
  const rest: (Word | { table: number })[] = []
  const marked = new Set<FilledCell[]>()
  for (const word of words) {
    const cells = cellOfWord.get(word)
    if (!cells || !real.includes(cells)) rest.push(word)
    else if (!marked.has(cells)) {
      marked.add(cells)
      rest.push({ table: real.indexOf(cells) })
    }
  }
  return { tables: real.map(groupRows), rest }
}

function groupTouching(cells: readonly FilledCell[]): FilledCell[][] {
  let groups: FilledCell[][] = []
  for (const cell of cells) {
    const touched = groups.filter((group) => group.some((each) => touches(each, cell)))
    groups = [...groups.filter((group) => !touched.includes(group)), [...touched.flat(), cell]]
  }
  return groups
}

function groupRows(cells: readonly FilledCell[]): FilledCell[][] {
  const rows: FilledCell[][] = []
  for (const cell of cells.toSorted((one, other) => one.top - other.top)) {
    const row = rows.find(([first]) => first && isSameRow(first, cell))
    if (row) row.push(cell)
    else rows.push([cell])
  }
  return rows.map((row) =>
    row.toSorted((one, other) => one.left - other.left).map((cell) => ({ ...cell, words: sortWords(cell.words) })),
  )
}

function sortWords(words: readonly Word[]): Word[] {
  const isFromRight = 2 * words.filter(({ text }) => RIGHT_TO_LEFT.test(text)).length > words.length
  const middle = ({ top, height }: Word) => top + height / 2
  return words.toSorted((one, other) =>
    Math.abs(middle(one) - middle(other)) > Math.min(one.height, other.height) / 2
      ? middle(one) - middle(other)
      : isFromRight
        ? other.left + other.width - one.left - one.width
        : one.left - other.left,
  )
}

/** Returns the box on the original page, in ten-thousandths. */
export function boxOf(
  { offset, length, word }: PlacedWord,
  toPage: (x: number, y: number) => { readonly x: number; readonly y: number },
): WordBox {
  const [right, bottom] = [word.left + word.width, word.top + word.height]
  const corners = [
    toPage(word.left, word.top),
    toPage(right, word.top),
    toPage(word.left, bottom),
    toPage(right, bottom),
  ]
  const clamp = (value: number) => Math.round(10_000 * Math.min(1, Math.max(0, value)))
  const xs = corners.map(({ x }) => clamp(x))
  const ys = corners.map(({ y }) => clamp(y))
  const [left, top] = [Math.min(...xs), Math.min(...ys)]
  return [offset, length, left, top, Math.max(...xs) - left, Math.max(...ys) - top]
}
