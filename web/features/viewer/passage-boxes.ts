import type { WordBox } from '#contract/document.ts'

/** A rectangle on a page, in ten-thousandths of its width and height. */
export interface PageRectangle {
  left: number
  top: number
  width: number
  height: number
}

/** Words with a wider gap, in line heights, are in different columns or cells. */
const MAX_GAP = 3
/** A rectangle higher than this multiple of its words overlaps the next line, as on a skewed scan. */
const MAX_GROWTH = 1.5

/** One rectangle per line, or per segment if a line is slanted or has gaps. Partly covered words count as a whole. */
export function passageRectangles(boxes: readonly WordBox[], start: number, end: number): PageRectangle[] {
  const isSideways = runsSideways(boxes)
  const stretches: Stretch[] = []
  for (const [offset, length, left, top, width, height] of boxes) {
    const isCited = Math.max(start, offset) < Math.min(end, offset + length)
    if (!isCited || width === 0 || height === 0) continue
    const across = { from: left, to: left + width }
    const down = { from: top, to: top + height }
    const word = isSideways ? { along: down, over: across } : { along: across, over: down }
    const last = stretches.at(-1)
    const joined = last && join(last, word)
    if (joined) stretches[stretches.length - 1] = joined
    else stretches.push({ ...word, tallest: sizeOf(word.over) })
  }
  return stretches.map(({ along, over }) => {
    const [across, down] = isSideways ? [over, along] : [along, over]
    return { left: across.from, top: down.from, width: sizeOf(across), height: sizeOf(down) }
  })
}

interface Span {
  from: number
  to: number
}

interface Word {
  /** In the reading direction of the line. */
  along: Span
  over: Span
}

interface Stretch extends Word {
  tallest: number
}

const sizeOf = ({ from, to }: Span): number => to - from
const hull = (one: Span, other: Span): Span => ({
  from: Math.min(one.from, other.from),
  to: Math.max(one.to, other.to),
})
/** Negative where there is a gap. */
const overlap = (one: Span, other: Span): number => Math.min(one.to, other.to) - Math.max(one.from, other.from)

function join(stretch: Stretch, word: Word): Stretch | null {
  const tallest = Math.max(stretch.tallest, sizeOf(word.over))
  const over = hull(stretch.over, word.over)
  const isSameLine = overlap(stretch.over, word.over) >= Math.min(sizeOf(stretch.over), sizeOf(word.over)) / 2
  if (!isSameLine || sizeOf(over) > MAX_GROWTH * tallest) return null
  if (-overlap(stretch.along, word.along) > MAX_GAP * tallest) return null
  return { along: hull(stretch.along, word.along), over, tallest }
}

/** Words are wider than high, unless the page shows its text sideways. */
function runsSideways(boxes: readonly WordBox[]): boolean {
  const words = boxes.filter(([, length]) => length > 3)
  const standing = words.filter(([, , , , width, height]) => height > width)
  return standing.length > words.length / 2
}
