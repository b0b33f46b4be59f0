import type { Line } from './lines.ts'

/** Maximum line distance within a region, in line heights. */
const MAX_DISTANCE = 3
const MIN_OVERLAP = 0.5
const DESCENT = 0.2
/** A page with more is a drawing and keeps its drawing order. */
const [MAX_LINES, MAX_REGIONS] = [1_500, 200]
const [MAX_HEAD_LINES, MAX_FOOT_LINES] = [1, 2]
const SAME_ANGLE = 0.01
const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u

interface Box {
  readonly from: number
  readonly to: number
  readonly top: number
  readonly bottom: number
  readonly height: number
}

interface Region {
  readonly lines: readonly Line[]
  readonly box: Box
  readonly isTurned: boolean
}

/** Regions go top to bottom, then left to right. Drawing order decides between a column's foot and the next head. */
export function orderRegions(lines: readonly Line[]): readonly Line[] {
  if (lines.length > MAX_LINES || lines.some(runsRightToLeft)) return lines
  const regions = groupRegions(lines, usualAngle(lines))
  if (regions.length > MAX_REGIONS) return lines
  const feet = findMargin(regions, MAX_FOOT_LINES, (one, other) => one.bottom > other.bottom)
    .toReversed()
    .flat()
  const heads = findMargin(
    regions.filter((region) => !feet.includes(region)),
    MAX_HEAD_LINES,
    (one, other) => one.top < other.top,
  ).flat()
  const body = regions.filter((region) => !heads.includes(region) && !feet.includes(region))
  return [...heads, ...sortRegions(body), ...feet].flatMap((region) => region.lines)
}

/** Not 0 on a rotated page or with vertical East Asian columns. */
function usualAngle(lines: readonly Line[]): number {
  const counts = new Map<number, number>()
  for (const { angle } of lines) counts.set(angle, (counts.get(angle) ?? 0) + 1)
  const [[usual] = [0]] = [...counts].toSorted(([, one], [, other]) => other - one)
  return usual
}

const runsRightToLeft = ({ items }: Line): boolean => items.some(({ text }) => RIGHT_TO_LEFT.test(text))

function boxOf({ items, down, height }: Line): Box {
  const shown = items.filter(({ text }) => text.trim() !== '')
  return {
    from: Math.min(...shown.map(({ from }) => from)),
    to: Math.max(...shown.map(({ to }) => to)),
    top: down - height,
    bottom: down + DESCENT * height,
    height,
  }
}

const union = (one: Box, other: Box): Box => ({
  from: Math.min(one.from, other.from),
  to: Math.max(one.to, other.to),
  top: Math.min(one.top, other.top),
  bottom: Math.max(one.bottom, other.bottom),
  height: Math.min(one.height, other.height),
})

const minOverlap = (one: Box, other: Box): number => MIN_OVERLAP * Math.min(one.height, other.height)
const overlapAcross = (one: Box, other: Box): boolean =>
  Math.min(one.to, other.to) - Math.max(one.from, other.from) > minOverlap(one, other)
const overlapDown = (one: Box, other: Box): boolean =>
  Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > minOverlap(one, other)

function groupRegions(lines: readonly Line[], usual: number): Region[] {
  const boxes = lines.map(boxOf)
  const regions: { lines: Line[]; box: Box; isTurned: boolean }[] = []
  lines.forEach((line, index) => {
    const [box, above, region] = [boxes[index], boxes[index - 1], regions.at(-1)]
    if (!box) return
    const isTurned = Math.abs(line.angle - usual) > SAME_ANGLE
    const goesOn =
      region !== undefined &&
      above !== undefined &&
      region.isTurned === isTurned &&
      (isTurned || (isBelow(above, box) && !isSeparated(above, box, boxes)))
    if (goesOn) {
      region.lines.push(line)
      region.box = union(region.box, box)
    } else regions.push({ lines: [line], box, isTurned })
  })
  return regions
}

function isBelow(above: Box, box: Box): boolean {
  const distance = box.bottom - above.bottom
  return (
    overlapAcross(above, box) &&
    distance > 0 &&
    distance <= MAX_DISTANCE * Math.max(above.height, box.height) + box.height
  )
}

const isSeparated = (above: Box, box: Box, boxes: readonly Box[]): boolean =>
  boxes.some(
    (other) =>
      other !== above &&
      other !== box &&
      (isBeside(other, above, box) ||
        isBeside(other, box, above) ||
        (other.bottom > above.bottom &&
          other.bottom < box.bottom &&
          !overlapDown(other, above) &&
          !overlapDown(other, box) &&
          (overlapAcross(other, above) || overlapAcross(other, box)))),
  )

const isBeside = (other: Box, line: Box, next: Box): boolean =>
  overlapDown(other, line) && !overlapAcross(other, line) && overlapAcross(other, next) && !overlapDown(other, next)

function findMargin(
  regions: readonly Region[],
  most: number,
  isFurtherOut: (one: Box, other: Box) => boolean,
): Region[][] {
  const margin: Region[][] = []
  let rest = regions.filter(({ isTurned }) => !isTurned)
  while (margin.length < most) {
    const outermost = rest.reduce<Region | undefined>(
      (best, region) => (best && !isFurtherOut(region.box, best.box) ? best : region),
      undefined,
    )
    const line = rest.filter((region) => outermost && overlapDown(region.box, outermost.box))
    if (line.length === rest.length || line.some(({ lines }) => lines.length > 1)) break
    margin.push(line.toSorted((one, other) => one.box.from - other.box.from))
    rest = rest.filter((region) => !line.includes(region))
  }
  return margin
}

function sortRegions(regions: readonly Region[]): Region[] {
  const left = new Set(regions)
  const ordered: Region[] = []
  while (left.size > 0) {
    const waiting = [...left]
    // Interlocked boxes can form a cycle: then drawing order decides.
    const next = waiting.find((region) => !waiting.some((other) => comesBefore(other, region))) ?? waiting[0]
    if (!next) break
    ordered.push(next)
    left.delete(next)
  }
  return ordered
}

function comesBefore({ box: one, isTurned }: Region, { box: other, isTurned: isOtherTurned }: Region): boolean {
  if (isTurned || isOtherTurned) return false
  const [across, down] = [overlapAcross(one, other), overlapDown(one, other)]
  const [isAbove, isLeft] = [one.top < other.top, one.from < other.from]
  if (across && down) return false
  return across ? isAbove : isLeft && (down || isAbove)
}
