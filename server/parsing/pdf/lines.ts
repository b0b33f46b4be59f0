import { withoutNul } from '#server/parsing/page.ts'
import { decodeSymbolMarks } from '#server/parsing/symbol-fonts.ts'

/** The used part of a pdf.js text item. `transform` is [a, b, c, d, x, y]; lengths in points. */
export interface TextItem {
  readonly str: string
  readonly transform: readonly number[]
  readonly width: number
  readonly height: number
  readonly hasEOL: boolean
  readonly fontName: string
}

/** Index of text that is in no item, for example the value of a form field. */
export const NO_ITEM = -1

export interface PlacedItem {
  readonly index: number
  readonly offset: number
  readonly text: string
  readonly from: number
  readonly to: number
  readonly down: number
  readonly height: number
  readonly angle: number
  readonly endsLine: boolean
  readonly fontName: string
}

export interface Cell {
  readonly items: PlacedItem[]
  from: number
  to: number
}

export interface Line {
  readonly items: PlacedItem[]
  readonly cells: Cell[]
  /** Items after a gap; the value tells whether a blank separates them. */
  readonly gaps: Map<PlacedItem, boolean>
  readonly down: number
  readonly height: number
  readonly angle: number
}

/** Share of the height; a wider gap separates two words. */
export const WORD_GAP = 0.12
/** Share of the height; a wider gap may separate two columns. */
const CELL_GAP = 1
const SAME_LINE = 0.5
const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u
/** Share of the height within which equal text is the same word drawn again. */
const REPEAT_TOLERANCE = 0.1

/** Contextual, vertical and compatibility forms of a letter. */
const COMPATIBLE = /[\u2e80-\u2fdf\uf900-\ufaff\ufb1d-\ufdff\ufe10-\ufe4f\ufe70-\ufefc]/g

/** Radicals that browsers write in place of a character, without a Unicode compatibility mapping. */
const RADICALS = new Map(
  '⺁厂⺟母⺠民⻁虎⻄西⻅见⻆角⻉贝⻋车⻑長⻓长⻔门⻘青⻙韦⻚页⻛风⻜飞⻝食⻢马⻣骨⻤鬼⻥鱼⻦鸟⻨麦⻩黄⻫斉⻬齐⻭歯⻮齿⻯竜⻰龙⻲亀⻳龟'
    .match(/../gu)
    ?.map(([radical = '', character = '']) => [radical, character]),
)

/** Replaces one for one, so that offsets stay valid. */
const normaliseForms = (text: string): string =>
  decodeSymbolMarks(text).replaceAll(COMPATIBLE, (form) => {
    const plain = RADICALS.get(form) ?? form.normalize('NFKC')
    return plain.length === 1 ? plain : form
  })

export const placeItems = (items: readonly TextItem[]): PlacedItem[] =>
  turnNumbers(removeRepeated(items.map(placeItem).filter(({ text }) => text !== '')))

/** Number of previous items that may already show the first letters of an item. */
const REPEAT_WINDOW = 4
const [NARROW, WIDE] = [0.6, 1.6]

/** Removes words drawn twice for bold or shadows. Only then removes overlapping letters: broken fonts overlap too. */
function removeRepeated(items: readonly PlacedItem[]): PlacedItem[] {
  const byText = new Map<string, PlacedItem[]>()
  const superseded = new Set<PlacedItem>()
  const last: PlacedItem[] = []
  let hasRepeated = false
  const drawn = items.flatMap((item) => {
    if (item.text.trim() === '') return [item]
    if (byText.get(item.text)?.some((other) => isRepeated(other, item))) {
      hasRepeated = true
      return []
    }
    for (const other of last)
      if (item.text.startsWith(other.text) && isRepeated(other, item)) {
        hasRepeated = true
        superseded.add(other)
      }
    const rest = hasRepeated && last[0] && !superseded.has(last[0]) ? withoutRepeated(last[0], item) : item
    if (rest.text === '') return []
    byText.set(rest.text, [...(byText.get(rest.text) ?? []), rest])
    last.unshift(rest)
    last.length = Math.min(last.length, REPEAT_WINDOW)
    return [rest]
  })
  return drawn.filter((item) => !superseded.has(item))
}

const isRepeated = (one: PlacedItem, other: PlacedItem): boolean =>
  isDrawnLike(one, other) && Math.abs(one.from - other.from) <= REPEAT_TOLERANCE * one.height

const isDrawnLike = (one: PlacedItem, other: PlacedItem): boolean =>
  one.angle === other.angle &&
  Math.max(Math.abs(one.down - other.down), Math.abs(one.height - other.height)) <= REPEAT_TOLERANCE * one.height

function withoutRepeated(before: PlacedItem, item: PlacedItem): PlacedItem {
  if (!isDrawnLike(before, item) || item.from < before.from - REPEAT_TOLERANCE * before.height) return item
  const shared = before.to - item.from
  const usual = (item.to - item.from) / item.text.length
  for (let count = Math.min(item.text.length, before.text.length); count > 0; count -= 1) {
    const letters = item.text.slice(0, count)
    const isAsWide = shared > NARROW * count * usual && shared < WIDE * count * usual
    if (!isAsWide || !/[\p{L}\p{N}]/u.test(letters) || !before.text.endsWith(letters)) continue
    return { ...item, offset: item.offset + count, text: item.text.slice(count), from: Math.min(before.to, item.to) }
  }
  return item
}

function placeItem({ str, transform, width, height, hasEOL, fontName }: TextItem, index: number): PlacedItem {
  const [a = 1, b = 0, c = 0, d = 1, x = 0, y = 0] = transform
  const scale = Math.hypot(a, b) || 1
  const [right, up] = [a / scale, b / scale]
  const along = x * right + y * up
  return {
    index,
    offset: 0,
    text: withoutNul(normaliseForms(str)),
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

/** Digits and the signs between them run left to right inside a right-to-left line. */
const NUMERIC = /^[\p{N}/.,:%+-]+$/u

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

/** Superscripts and subscripts: maximum share of the height of their neighbours. */
const MAX_MARK_SIZE = 0.8
const [MAX_RAISE, MAX_LOWERING, MAX_MARK_GAP] = [0.7, 0.4, 1]
const MAX_MARK_CHARACTERS = 8
const MAX_OVERLAP = 0.3

const isSmall = (one: PlacedItem, other: PlacedItem): boolean =>
  one.height <= MAX_MARK_SIZE * other.height && one.text.length <= MAX_MARK_CHARACTERS

/** Whether either item is a superscript or subscript of the other: "m²", "H₂O", a note number. */
function isMarkBeside(one: PlacedItem, other: PlacedItem): boolean {
  const [small, large] = one.height < other.height ? [one, other] : [other, one]
  const gap = other.from - one.to
  const up = large.down - small.down
  return (
    Math.abs(one.angle - other.angle) <= 0.01 &&
    isSmall(small, large) &&
    gap > -MAX_OVERLAP * small.height &&
    gap < MAX_MARK_GAP * large.height &&
    up > -MAX_LOWERING * large.height &&
    up < MAX_RAISE * large.height
  )
}

interface ItemGroup {
  readonly items: PlacedItem[]
  base: PlacedItem
}

export function groupLines(placed: readonly PlacedItem[]): Line[] {
  const isRightToLeft = placed.some(({ text }) => RIGHT_TO_LEFT.test(text))
  const lines: ItemGroup[] = []
  let previous: PlacedItem | undefined
  let last: PlacedItem | undefined
  for (const item of placed) {
    const isBroken =
      last?.endsLine === true && item.index !== NO_ITEM && !/\s$/.test(last.text) && !/^\s/.test(item.text)
    last = item
    const isBlank = item.text.trim() === ''
    const line = lines.at(-1)
    if (!line || !previous || isBroken) {
      lines.push({ items: [item], base: item })
      previous = item
    } else if (isSameLine(previous, item) || isSameLine(line.base, item)) {
      const place = isRightToLeft || isBlank ? undefined : findInsertIndex(line.items, item)
      if (place === undefined) line.items.push(item)
      else insertItem(line.items, item, place)
      if (isSameLine(line.base, item) && !isBlank && !isSmall(item, line.base)) line.base = item
      // A blank has no useful extent: the next word is compared with the last visible one.
      if (!isBlank && place === undefined) previous = item
    } else if (!isBlank && (isMarkBeside(previous, item) || isMarkBeside(line.base, item))) {
      line.items.push(item)
      if (item.height > line.base.height) line.base = item
      previous = item
    } else {
      lines.push({ items: [item], base: item })
      previous = item
    }
  }
  return lines.map(measureLine)
}

/** Finds the place of an item that was drawn after its right neighbour, for example in another font. */
function findInsertIndex(items: readonly PlacedItem[], item: PlacedItem): number | undefined {
  const shown = items.filter(({ text }) => text.trim() !== '')
  const next = shown.find(({ from }) => from > item.from)
  if (!next || shown.some((other) => overlaps(other, item))) return undefined
  return isSmall(item, next) ? undefined : items.indexOf(next)
}

function overlaps(one: PlacedItem, other: PlacedItem): boolean {
  const shared = Math.min(one.to, other.to) - Math.max(one.from, other.from)
  return shared > MAX_OVERLAP * Math.min(one.height, one.to - one.from, other.to - other.from)
}

function insertItem(items: PlacedItem[], item: PlacedItem, place: number): void {
  const before = items[place - 1]
  const fills = before?.text.trim() === '' && before.to > item.from
  items.splice(fills ? place - 1 : place, fills ? 1 : 0, item)
}

function measureLine({ items, base }: ItemGroup): Line {
  const [first = base, ...others] = items
  const second = others.find(({ text }) => text.trim() !== '')
  const isMark = second !== undefined && first.height < second.height && isMarkBeside(first, second)
  const { down, height, angle } = isMark ? second : first
  const cells: Cell[] = [{ items: [first], from: first.from, to: first.to }]
  const gaps = new Map<PlacedItem, boolean>()
  let previous = first
  for (const item of others) {
    // Right-to-left items also start at their left edge, so the gap is measured in both directions.
    const gap = Math.max(item.from - previous.to, previous.from - item.to)
    const largest = Math.max(previous.height, item.height)
    gaps.set(item, gap > WORD_GAP * largest)
    if (item.text.trim() === '') continue
    const cell = cells.at(-1)
    if (cell && gap <= CELL_GAP * largest) {
      cell.items.push(item)
      cell.from = Math.min(cell.from, item.from)
      cell.to = Math.max(cell.to, item.to)
    } else cells.push({ items: [item], from: item.from, to: item.to })
    previous = item
  }
  return { items, cells, gaps, down, height, angle }
}
