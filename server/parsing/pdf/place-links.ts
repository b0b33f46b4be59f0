/** Addresses of links, written behind the words that their rectangles cover. */
import { addressBehind } from '#server/parsing/links.ts'
import { NO_ITEM, type PlacedItem } from './lines.ts'
import type { PageLink, Rectangle } from './notes.ts'
import type { PlacedNote } from './place-notes.ts'

/** Share of the height by which a rectangle may miss the letters that it covers. */
const TOLERANCE = 0.3

/** Share of the height by which a rectangle may be too narrow: widths of letters are guessed. */
const MARGIN = 0.15
/** Share of a word at either end that a rectangle need not cover. */
const OUTER = 0.3

interface CoveredItem {
  readonly item: PlacedItem
  /** Number of characters from the beginning up to the end of the last covered word. */
  readonly end: number
  readonly words: string
}

export interface PlacedLinks {
  /** Items, some of them in two parts, with the addresses between them. */
  readonly items: PlacedItem[]
  readonly notes: PlacedNote[]
}

export function placeLinks(items: readonly PlacedItem[], links: readonly PageLink[]): PlacedLinks {
  const notes: PlacedNote[] = []
  let placed = [...items]
  for (const link of links) {
    const covered = placed.flatMap((item) => link.rectangles.flatMap((rectangle) => cover(item, rectangle) ?? []))
    const last = covered.at(-1)
    if (!last) continue
    const words = covered.map((each) => each.words).join('')
    const around = covered.map(({ item }) => item.text).join('')
    // The words beside a link may be part of a printed address that its rectangle covers badly.
    const text = addressBehind(words, link.address) && addressBehind(around, link.address)
    if (text === '') continue
    const [before, after] = splitItem(last.item, last.end)
    const endsLine = after.length === 0 && last.item.endsLine
    const item = { ...before, index: NO_ITEM, offset: 0, text, from: before.to, to: before.to, endsLine }
    const rectangle = link.rectangles.at(-1) ?? [0, 0, 0, 0]
    notes.push({ item, note: { text, rectangle, isInline: true, isAddress: true } })
    const parts = [{ ...before, endsLine: false }, item, ...after]
    placed = placed.flatMap((item) => (item === last.item ? parts : [item]))
  }
  return { items: placed, notes }
}

function cover(item: PlacedItem, [left, bottom, right, top]: Rectangle): CoveredItem | undefined {
  if (item.index === NO_ITEM || item.text.trim() === '') return undefined
  const [alongX, alongY] = [Math.cos(item.angle), Math.sin(item.angle)]
  const toPage = (along: number, down: number) => ({
    x: along * alongX + down * alongY,
    y: along * alongY - down * alongX,
  })
  const margin = item.height * MARGIN
  const isInside = (along: number): boolean => {
    const { x, y } = toPage(along, item.down - item.height * TOLERANCE)
    const isBeside = x >= left - margin && x <= right + margin
    return isBeside && y >= bottom - item.height * TOLERANCE && y <= top + margin
  }
  // Measuring the letters takes long, and most links are elsewhere.
  if (!overlaps([toPage(item.from, item.down), toPage(item.to, item.down)], [left, bottom, right, top], item.height))
    return undefined
  const positionAt = measureText(item)
  const words = [...item.text.matchAll(/\S+/g)].filter(({ index, 0: word }) =>
    covers(isInside, positionAt(index), positionAt(index + word.length)),
  )
  const last = words.at(-1)
  return last && { item, end: last.index + last[0].length, words: words.map(([word]) => word).join('') }
}

interface Point {
  readonly x: number
  readonly y: number
}

const overlaps = ([from, to]: readonly [Point, Point], [left, bottom, right, top]: Rectangle, height: number) =>
  Math.max(from.x, to.x) >= left - height &&
  Math.min(from.x, to.x) <= right + height &&
  Math.max(from.y, to.y) >= bottom - height &&
  Math.min(from.y, to.y) <= top + height

/** Most of a word is covered if both ends of its inner part are. */
const covers = (isInside: (along: number) => boolean, from: number, to: number): boolean =>
  isInside(from + OUTER * (to - from)) && isInside(to - OUTER * (to - from))

/** The file tells the width of an item alone; its letters share it by their usual proportions. */
function measureText({ text, from, to }: PlacedItem): (end: number) => number {
  const ends = [0]
  for (const character of text.split('')) ends.push((ends.at(-1) ?? 0) + widthOf(character))
  const whole = ends.at(-1) || 1
  return (end) => from + ((to - from) * (ends[end] ?? whole)) / whole
}

function widthOf(character: string): number {
  if (/[ijl.,:;'|!I]/.test(character)) return NARROW
  if (/[ ftr()[\]/\\-]/.test(character)) return HALF_NARROW
  if (/[mwMW@%]/.test(character)) return WIDE
  return /\p{Lu}/u.test(character) ? CAPITAL : 1
}

/** Widths in those of "n", as in common proportional fonts. */
const [NARROW, HALF_NARROW, CAPITAL, WIDE] = [0.45, 0.55, 1.25, 1.5]

function splitItem(item: PlacedItem, end: number): [PlacedItem, PlacedItem[]] {
  if (end >= item.text.trimEnd().length) return [item, []]
  const border = measureText(item)(end)
  return [
    { ...item, text: item.text.slice(0, end), to: border },
    [{ ...item, text: item.text.slice(end), offset: item.offset + end, from: border }],
  ]
}
