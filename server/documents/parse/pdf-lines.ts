/** Lines of a pdf page: which items stand beside each other, and where the gaps between them are. */
import { withoutNul } from './page.ts'

/** What is used of a pdf.js text item. `transform` is [a, b, c, d, x, y]; lengths are in points. */
export interface TextItem {
  readonly str: string
  readonly transform: readonly number[]
  readonly width: number
  readonly height: number
  readonly hasEOL: boolean
  readonly fontName: string
}

/** Stands for what no item holds, such as the value of a form's field. */
export const NO_ITEM = -1

export interface PlacedItem {
  readonly index: number
  /** Where the text begins in the item, of which it may be a part. */
  readonly offset: number
  readonly text: string
  /** Extent along the writing direction. */
  readonly from: number
  readonly to: number
  /** Distance of the baseline down the page, across the writing direction. */
  readonly down: number
  readonly height: number
  readonly angle: number
  readonly endsLine: boolean
  readonly fontName: string
}

/** Items with no wide gap between them. */
export interface Cell {
  readonly items: PlacedItem[]
  from: number
  to: number
}

export interface Line {
  readonly items: PlacedItem[]
  readonly cells: Cell[]
  /** Items that stand apart from the one before them. */
  readonly gaps: Map<PlacedItem, boolean>
  readonly down: number
  readonly height: number
  readonly angle: number
}

/** A gap wider than this share of the height separates two words. */
export const WORD_GAP = 0.12
/** A gap wider than this share of the height may separate two columns. */
const CELL_GAP = 1
const SAME_LINE = 0.5
/** The same text within this share of its height is the same word drawn again. */
const REPEATED = 0.1

/** Forms that a letter takes in its word, in vertical lines or in a dictionary, which stand for the letter itself. */
const COMPATIBLE = /[\u2e80-\u2fdf\uf900-\ufaff\ufb1d-\ufdff\ufe10-\ufe4f\ufe70-\ufefc]/g

/** Radicals that browsers write into a pdf instead of the character, and that Unicode does not call compatible with it. */
const RADICALS = new Map(
  '⺁厂⺟母⺠民⻁虎⻄西⻅见⻆角⻉贝⻋车⻑長⻓长⻔门⻘青⻙韦⻚页⻛风⻜飞⻝食⻢马⻣骨⻤鬼⻥鱼⻦鸟⻨麦⻩黄⻫斉⻬齐⻭歯⻮齿⻯竜⻰龙⻲亀⻳龟'
    .match(/../gu)
    ?.map(([radical = '', character = '']) => [radical, character]),
)

/** Only one for one, so that offsets stay true. */
const plainForms = (text: string): string =>
  text.replaceAll(COMPATIBLE, (form) => {
    const plain = RADICALS.get(form) ?? form.normalize('NFKC')
    return plain.length === 1 ? plain : form
  })

export const placeItems = (items: readonly TextItem[]): PlacedItem[] =>
  turnNumbers(drawnOnce(items.map(place).filter(({ text }) => text !== '')))

/** Words drawn again a hair further on, so that they look bold or cast a shadow, are there once. */
function drawnOnce(items: readonly PlacedItem[]): PlacedItem[] {
  const kept = new Map<string, PlacedItem[]>()
  return items.filter((item) => {
    if (item.text.trim() === '') return true
    const same = kept.get(item.text)
    if (same?.some((other) => isRepeated(other, item))) return false
    if (same) same.push(item)
    else kept.set(item.text, [item])
    return true
  })
}

const isRepeated = (one: PlacedItem, other: PlacedItem): boolean =>
  one.angle === other.angle &&
  Math.max(Math.abs(one.from - other.from), Math.abs(one.down - other.down), Math.abs(one.height - other.height)) <=
    REPEATED * one.height

function place({ str, transform, width, height, hasEOL, fontName }: TextItem, index: number): PlacedItem {
  const [a = 1, b = 0, c = 0, d = 1, x = 0, y = 0] = transform
  const scale = Math.hypot(a, b) || 1
  const [right, up] = [a / scale, b / scale]
  const along = x * right + y * up
  return {
    index,
    offset: 0,
    text: withoutNul(plainForms(str)),
    from: along,
    to: along + width,
    down: x * up - y * right,
    height: height || Math.hypot(c, d) || scale,
    angle: Math.atan2(b, a),
    endsLine: hasEOL,
    fontName,
  }
}

export function isSameLine(previous: PlacedItem, next: PlacedItem): boolean {
  return (
    Math.abs(previous.angle - next.angle) <= 0.01 &&
    Math.abs(next.down - previous.down) < (SAME_LINE * (previous.height + next.height)) / 2
  )
}

/** What keeps its left-to-right order inside a right-to-left line: digits, and the signs between them. */
const NUMERIC = /^[\p{N}/.,:%+-]+$/u

/** Numbers in right-to-left lines come in pieces from right to left ("04", "/", "10"): turns each such group round. */
function turnNumbers(items: readonly PlacedItem[]): PlacedItem[] {
  const turned: PlacedItem[] = []
  let group: PlacedItem[] = []
  const close = () => {
    turned.push(...group.toReversed())
    group = []
  }
  for (const item of items) {
    const last = group.at(-1)
    const touches =
      last && isSameLine(last, item) && item.from < last.from && Math.abs(last.from - item.to) < WORD_GAP * item.height
    if (!touches || !NUMERIC.test(item.text)) close()
    if (NUMERIC.test(item.text)) group.push(item)
    else turned.push(item)
  }
  close()
  return turned
}

/** Groups the items in their order to lines. */
export function gatherLines(placed: readonly PlacedItem[]): Line[] {
  const lines: Line[] = []
  let previous: PlacedItem | undefined
  let last: PlacedItem | undefined
  for (const item of placed) {
    // A field's value stands in the line of its label.
    const isBroken =
      last?.endsLine === true && item.index !== NO_ITEM && !/\s$/.test(last.text) && !/^\s/.test(item.text)
    last = item
    // Right-to-left items come with their left edge first as well, so the gap is measured whichever way the line runs.
    const gap = previous ? Math.max(item.from - previous.to, previous.from - item.to) : 0
    const isBlank = item.text.trim() === ''
    const line = lines.at(-1)
    if (!line || !previous || !isSameLine(previous, item) || isBroken) {
      lines.push(beginLine(item))
      previous = item
      continue
    }
    const height = Math.max(previous.height, item.height)
    line.items.push(item)
    line.gaps.set(item, gap > WORD_GAP * height)
    const cell = line.cells.at(-1)
    if (!isBlank && cell && gap <= CELL_GAP * height) {
      cell.items.push(item)
      cell.from = Math.min(cell.from, item.from)
      cell.to = Math.max(cell.to, item.to)
    } else if (!isBlank) line.cells.push({ items: [item], from: item.from, to: item.to })
    // A blank has no extent worth comparing with: the next word is measured against the last real one.
    if (!isBlank) previous = item
  }
  return lines
}

const beginLine = (item: PlacedItem): Line => ({
  items: [item],
  cells: [{ items: [item], from: item.from, to: item.to }],
  gaps: new Map(),
  down: item.down,
  height: item.height,
  angle: item.angle,
})
