/** Orders right-to-left lines and vertical East Asian columns of a pdf page. */
import { isSameLine, type PlacedItem } from './lines.ts'

const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u
const LEFT_TO_RIGHT = /\p{L}/u
const DIGITS = /\p{N}/u
const EAST_ASIAN = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303fー\ufe10-\ufe4f]$/u

const BLANK = /\s/

export function orderByDirection(items: readonly PlacedItem[]): PlacedItem[] {
  const ordered: PlacedItem[] = []
  let line: PlacedItem[] = []
  const close = () => {
    ordered.push(...(runsRightToLeft(line) ? orderRightToLeft(line) : line))
    line = []
  }
  for (const item of items) {
    const last = line.at(-1)
    if (last && !isSameLine(last, item)) close()
    line.push(item)
  }
  close()
  return ordered
}

type Direction = 'right to left' | 'left to right' | 'number' | 'neutral'

function directionOf({ text }: PlacedItem): Direction {
  if (RIGHT_TO_LEFT.test(text)) return 'right to left'
  if (LEFT_TO_RIGHT.test(text)) return 'left to right'
  return DIGITS.test(text) ? 'number' : 'neutral'
}

function runsRightToLeft(line: readonly PlacedItem[]): boolean {
  if (line.length < 2) return false
  let balance = 0
  for (const item of line) {
    const direction = directionOf(item)
    if (direction === 'right to left') balance += item.text.length
    if (direction === 'left to right') balance -= item.text.length
  }
  return balance > 0
}

/** Keeps the order of left-to-right words and numbers. */
function orderRightToLeft(line: readonly PlacedItem[]): PlacedItem[] {
  const visual = line.toSorted((one, other) => one.from - other.from)
  const groups: PlacedItem[][] = []
  let open: { readonly items: PlacedItem[]; between: PlacedItem[]; hasLetters: boolean } | undefined
  const close = () => {
    if (open) groups.push(open.items, ...open.between.map((item) => [item]))
    open = undefined
  }
  for (const item of visual) {
    const direction = directionOf(item)
    if (direction === 'neutral' && open) open.between.push(item)
    else if (direction === 'left to right' || direction === 'number') {
      const isLetters = direction === 'left to right'
      // Numbers separated by a blank run right to left, except inside a left-to-right phrase.
      if (open && !open.hasLetters && !isLetters && open.between.some(({ text }) => BLANK.test(text))) close()
      open ??= { items: [], between: [], hasLetters: false }
      open.items.push(...open.between, item)
      open.between = []
      open.hasLetters ||= isLetters
    } else {
      close()
      groups.push([item])
    }
  }
  close()
  return groups.toReversed().flat()
}

const MIN_COLUMN_CHARACTERS = 4
/** Distance between two characters of a column, as shares of their height. */
const [MIN_DISTANCE, MAX_DISTANCE] = [0.7, 1.6]
const MAX_COLUMN_OFFSET = 0.3
const DOWNWARDS = -Math.PI / 2

export function turnVerticalColumns(items: readonly PlacedItem[]): PlacedItem[] {
  const result: PlacedItem[] = []
  let column: PlacedItem[] = []
  const close = () => {
    result.push(...(column.length >= MIN_COLUMN_CHARACTERS ? column.map(downwards) : column))
    column = []
  }
  for (const item of items) {
    const last = column.at(-1)
    if (last && !isBelow(last, item)) close()
    if (item.angle === 0 && EAST_ASIAN.test(item.text)) column.push(item)
    else {
      close()
      result.push(item)
    }
  }
  close()
  return result
}

function isBelow(above: PlacedItem, item: PlacedItem): boolean {
  const distance = item.down - above.down
  return (
    Math.abs(item.from + item.to - above.from - above.to) / 2 < MAX_COLUMN_OFFSET * above.height &&
    distance > MIN_DISTANCE * above.height &&
    distance < MAX_DISTANCE * above.height
  )
}

const downwards = (item: PlacedItem): PlacedItem => ({
  ...item,
  from: item.down - item.height,
  to: item.down,
  down: -(item.from + item.to) / 2,
  angle: DOWNWARDS,
  endsLine: false,
})
