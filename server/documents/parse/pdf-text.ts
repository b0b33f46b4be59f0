/** From the positioned items of a pdf page to its text, keeping the way back from every character to its item. */
import { type ItemRun } from '#contract/document.ts'
import { type Heading, withoutNul } from './page.ts'

/** What is used of a pdf.js text item. `transform` is [a, b, c, d, x, y]; lengths are in points. */
export interface TextItem {
  readonly str: string
  readonly transform: readonly number[]
  readonly width: number
  readonly height: number
  readonly hasEOL: boolean
}

interface PlacedItem {
  readonly index: number
  readonly text: string
  /** Extent along the writing direction. */
  readonly from: number
  readonly to: number
  /** Distance of the baseline down the page, across the writing direction. */
  readonly down: number
  readonly height: number
  readonly angle: number
}

interface Line {
  readonly offset: number
  readonly height: number
  readonly down: number
  text: string
}

/** A gap wider than this share of the height separates two words. */
const WORD_GAP = 0.12
const SAME_LINE = 0.5
/** Lines further apart than this many usual line distances belong to different paragraphs. */
const PARAGRAPH_GAP = 1.4
/** On pages of few lines, where no distance is usual: more than double spacing. */
const PARAGRAPH_HEIGHTS = 2.5
const HEADING_SIZE = 1.2
const HEADING_MAX_CHARACTERS = 150

function place({ str, transform, width, height }: TextItem, index: number): PlacedItem {
  const [a = 1, b = 0, c = 0, d = 1, x = 0, y = 0] = transform
  const scale = Math.hypot(a, b) || 1
  const [right, up] = [a / scale, b / scale]
  const along = x * right + y * up
  return {
    index,
    text: withoutNul(str),
    from: along,
    to: along + width,
    down: x * up - y * right,
    height: height || Math.hypot(c, d) || scale,
    angle: Math.atan2(b, a),
  }
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right)
  return sorted[sorted.length >> 1] ?? 0
}

const turnsFrom = (previous: PlacedItem, next: PlacedItem) => Math.abs(previous.angle - next.angle) > 0.01

function isSameLine(previous: PlacedItem, next: PlacedItem): boolean {
  return (
    !turnsFrom(previous, next) &&
    Math.abs(next.down - previous.down) < (SAME_LINE * (previous.height + next.height)) / 2
  )
}

/** The usual distance between two lines that follow each other, 0 where there is only one line. */
function usualLineDistance(items: readonly PlacedItem[]): number {
  const distances: number[] = []
  items.forEach((next, position) => {
    const previous = items[position - 1]
    if (!previous || turnsFrom(previous, next) || isSameLine(previous, next)) return
    const distance = next.down - previous.down
    if (distance > 0 && distance < 4 * next.height) distances.push(distance)
  })
  return median(distances)
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

/**
 * Joins the items in the order of the page's content. Spaces and line ends that the geometry asks for are generated and
 * belong to no run.
 */
export function joinItems(items: readonly TextItem[]): { text: string; items: ItemRun[]; headings: Heading[] } {
  const placed = turnNumbers(items.map(place).filter(({ text }) => text !== ''))
  const lineDistance = usualLineDistance(placed)
  const runs: ItemRun[] = []
  const lines: Line[] = []
  let text = ''
  let previous: PlacedItem | undefined
  for (const item of placed) {
    let separator = previous
      ? separatorBetween(previous, item, lineDistance, text, items[previous.index]?.hasEOL ?? false)
      : ''
    if (separator === '\n' && HYPHENATED.test(text) && /^\p{Ll}/u.test(item.text)) {
      text = dropHyphen(text, runs)
      separator = ''
    }
    text += separator
    if (!previous || separator.includes('\n'))
      lines.push({ offset: text.length, height: item.height, down: item.down, text: '' })
    runs.push([text.length, item.index, 0, item.text.length])
    text += item.text
    const line = lines.at(-1)
    if (line) line.text += (separator === ' ' ? ' ' : '') + item.text
    // A blank has no extent worth comparing with: the next word is measured against the last real one.
    if (item.text.trim() !== '' || !previous) previous = item
    else previous = { ...item, to: Math.max(item.to, previous.to) }
  }
  return { text, items: runs, headings: findHeadings(lines) }
}

const HYPHENATED = /\p{L}[-‐\u00ad]$/u

/** A word broken at the end of a line is whole again; its hyphen stays in the item and out of the run. */
function dropHyphen(text: string, runs: ItemRun[]): string {
  const last = runs.pop()
  if (!last) return text
  const [offset, index, inItem, length] = last
  if (length > 1) runs.push([offset, index, inItem, length - 1])
  return text.slice(0, -1)
}

function separatorBetween(
  previous: PlacedItem,
  next: PlacedItem,
  lineDistance: number,
  text: string,
  endsLine: boolean,
): string {
  if (!isSameLine(previous, next)) {
    const distance = next.down - previous.down
    const paragraphDistance = Math.min(
      PARAGRAPH_GAP * lineDistance,
      PARAGRAPH_HEIGHTS * Math.min(previous.height, next.height),
    )
    const isParagraph = lineDistance > 0 && !turnsFrom(previous, next) && distance > paragraphDistance
    return isParagraph ? '\n\n' : '\n'
  }
  // Right-to-left items come with their left edge first as well, so the gap is measured whichever way the line runs.
  const gap = Math.max(next.from - previous.to, previous.from - next.to)
  const isApart = gap > WORD_GAP * Math.max(previous.height, next.height)
  if (/\s$/.test(text) || /^\s/.test(next.text)) return ''
  if (endsLine) return '\n'
  return isApart ? ' ' : ''
}

/** Short lines that stand larger than the page's body text. */
function findHeadings(lines: readonly Line[]): Heading[] {
  const characters = lines.flatMap(({ height, text }) =>
    Array<number>(Math.min(Math.ceil(text.length / 10), 50)).fill(height),
  )
  const bodyHeight = median(characters)
  return lines
    .filter(({ height, text }) => {
      const words = text.trim()
      return (
        height > HEADING_SIZE * bodyHeight &&
        words.length > 2 &&
        words.length <= HEADING_MAX_CHARACTERS &&
        /\p{L}{2}/u.test(words)
      )
    })
    .map(({ offset, text }) => [offset, text.trim()] as const)
}
