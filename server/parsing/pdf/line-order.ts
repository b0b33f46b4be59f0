import { type Cell, type Line, NO_ITEM, type PlacedItem } from './lines.ts'

const MIN_LINES = 6
/** Share of upward steps on a page that was drawn from its foot. */
const MIN_UPWARD_SHARE = 0.9

export function orderFromTop(lines: readonly Line[]): readonly Line[] {
  const steps = lines.slice(1).map((line, index) => line.down - (lines[index]?.down ?? 0))
  const isUpright = lines.every(({ angle }) => angle === lines[0]?.angle)
  const up = steps.filter((step, index) => step < -(lines[index]?.height ?? 0) / 2).length
  return lines.length >= MIN_LINES && isUpright && up >= MIN_UPWARD_SHARE * steps.length ? lines.toReversed() : lines
}

const MIN_ROWS = 5
/** Average length of a line of running text; cells of tables are shorter. */
const MIN_CHARACTERS = 45
const ALIGNED = 0.6
const MAX_DISTANCE = 2.5
const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}]/u

/** Separates two columns of running text that were drawn line by line across both. */
export function orderColumns(lines: readonly Line[]): readonly Line[] {
  const ordered: Line[] = []
  let region: Line[] = []
  const close = () => {
    ordered.push(...(areColumns(region) ? splitColumns(region) : region))
    region = []
  }
  for (const line of lines) {
    if (region.length > 0 && !continuesRegion(region, line)) close()
    if (region.length > 0 || line.cells.length === 2) region.push(line)
    else ordered.push(line)
  }
  close()
  return ordered
}

const rightOf = (line: Line | undefined): Cell | undefined => line?.cells[1]

function continuesRegion(region: readonly Line[], line: Line): boolean {
  const [above, right] = [region.at(-1), rightOf(region[0])]
  if (!above || !right || line.angle !== above.angle) return false
  const distance = line.down - above.down
  if (distance <= 0 || distance > MAX_DISTANCE * Math.max(line.height, above.height)) return false
  const tolerance = ALIGNED * line.height
  const [first, second] = line.cells
  if (!first || line.cells.length > 2) return false
  const begins = Math.abs((second ?? first).from - right.from) < tolerance
  return second ? begins && first.to < right.from : begins || first.to < right.from - tolerance
}

const textOf = ({ items }: Cell): string => items.map(({ text }) => text).join('')

function areColumns(region: readonly Line[]): boolean {
  const rows = region.filter(({ cells }) => cells.length === 2).map(({ cells }) => cells.map(textOf))
  if (rows.length < MIN_ROWS) return false
  const isLong = [0, 1].every(
    (column) => rows.reduce((sum, row) => sum + (row[column] ?? '').length, 0) > MIN_CHARACTERS * rows.length,
  )
  return isLong && !rows.flat().some((text) => RIGHT_TO_LEFT.test(text))
}

function splitColumns(region: readonly Line[]): Line[] {
  const border = rightOf(region[0])?.from ?? 0
  const columns: [Line[], Line[]] = [[], []]
  for (const line of region) {
    const tolerance = ALIGNED * line.height
    for (const cell of line.cells) columns[cell.from < border - tolerance ? 0 : 1].push(withOnly(line, cell))
  }
  return columns.flat()
}

const withOnly = (line: Line, cell: Cell): Line => ({ ...line, items: cell.items, cells: [cell] })

const LETTER = /^[\p{Lu}\p{Ll}\p{N}’'.,:;!?&()/%"“”•–-]$/u
const VOWEL = /[aeiouаеёиоуыэюяαεηιουω]/iu
const MONTHS = 'JFMAMJJASOND'.repeat(6)
const MIN_LETTERS = 5
const MIN_DIFFERENT_LETTERS = 3
/** Ratio of the gap between words to the gap between letters. */
const MIN_WORD_GAP_RATIO = 1.5

export const looksLetterspaced = (text: string): boolean => /^\S(?:\s+\S)+$/u.test(text)

/** Joins letterspaced words: "H E L L O" becomes "HELLO". `drawn`: the glyphs, with blanks only between words. */
export const joinLetterspacedWords = (lines: readonly Line[], drawn: string): readonly Line[] =>
  lines.map((line) => {
    const letters = line.items.flatMap((item) => splitLetters(item, drawn)).filter(({ text }) => text.trim() !== '')
    return isLetterspaced(letters) ? joinLetters(line, letters) : line
  })

const WORD_STEPS = 2

function splitLetters(item: PlacedItem, drawn: string): PlacedItem[] {
  if (item.index === NO_ITEM || !looksLetterspaced(item.text)) return [item]
  const letters = [...item.text.matchAll(/\S/gu)]
  const found = new RegExp(letters.map(([letter]) => RegExp.escape(letter)).join(String.raw`\s*`), 'u').exec(drawn)
  // Without a match the word boundaries are unknown.
  if (!found) return [item]
  const words = found[0].split(/\s+/)
  const wordOf = words.flatMap((word, index) => Array.from(word, () => index))
  const width = (item.to - item.from) / (item.text.length + WORD_STEPS * words.length)
  return letters.map(({ index, 0: text }, place) => {
    const from = item.from + (index + WORD_STEPS * (wordOf[place] ?? 0)) * width
    return { ...item, offset: item.offset + index, text, from, to: from + width }
  })
}

function isLetterspaced(items: readonly PlacedItem[]): boolean {
  if (items.length < MIN_LETTERS || !items.every(({ text }) => LETTER.test(text))) return false
  const letters = items.map(({ text }) => text)
  const words = letters.join('')
  // "A B C D E" names points or columns.
  const isInOrder = letters.every((letter, index) => index === 0 || letter > (letters[index - 1] ?? ''))
  return (
    new Set(letters).size >= MIN_DIFFERENT_LETTERS &&
    /\p{L}{3}/u.test(words) &&
    VOWEL.test(words) &&
    !isInOrder &&
    !MONTHS.includes(words)
  )
}

function joinLetters(line: Line, items: readonly PlacedItem[]): Line {
  const gapBefore = (index: number) => (items[index]?.from ?? 0) - (items[index - 1]?.to ?? 0)
  const gaps = items.slice(1).map((_, index) => gapBefore(index + 1))
  const [least, most] = [Math.min(...gaps), Math.max(...gaps)]
  const border = most > MIN_WORD_GAP_RATIO * least ? (least + most) / 2 : Infinity
  const parted = new Map(items.map((item, index) => [item, index > 0 && gapBefore(index) > border]))
  const [from, to] = [Math.min(...items.map((item) => item.from)), Math.max(...items.map((item) => item.to))]
  return { ...line, items: [...items], gaps: parted, cells: [{ items: [...items], from, to }] }
}
