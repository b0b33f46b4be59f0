import type { WordBox } from '#contract/document.ts'
import { NO_ITEM, type PlacedItem } from './lines.ts'
import type { PageNote, Rectangle } from './notes.ts'

const MAX_SIZE = 12
/** Share of its height by which a label may lie below its field. */
const MAX_BELOW = 0.3

export interface PlacedNote {
  readonly item: PlacedItem
  readonly note: PageNote
}

export function placeNotes(items: readonly PlacedItem[], notes: readonly PageNote[]): PlacedNote[] {
  return notes.map((note) => {
    const [left, bottom, right, top] = note.rectangle
    const size = Math.min(MAX_SIZE, Math.max(1, top - bottom))
    const label = items.reduce<PlacedItem | undefined>((best, item) => {
      const isBeside = item.angle === 0 && -item.down <= top && -item.down >= bottom - MAX_BELOW * item.height
      return isBeside && item.from < left && (!best || item.from > best.from) ? item : best
    }, undefined)
    return {
      note,
      item: {
        index: NO_ITEM,
        offset: 0,
        text: note.text,
        from: left,
        to: Math.max(left, Math.min(right, left + (note.text.length * size) / 2)),
        down: label?.down ?? size - top,
        height: label?.height ?? size,
        angle: 0,
        endsLine: false,
        fontName: '',
      },
    }
  })
}

export function insertNotes(items: readonly PlacedItem[], notes: readonly PlacedNote[]): PlacedItem[] {
  const result = [...items]
  for (const { item } of notes.toSorted(
    (one, other) => one.item.down - other.item.down || one.item.from - other.item.from,
  )) {
    const isBefore = (other: PlacedItem) =>
      other.angle === 0 &&
      (Math.abs(other.down - item.down) < item.height / 2 ? other.from < item.from : other.down < item.down)
    const nearest = result.reduce<PlacedItem | undefined>((best, other) => {
      if (!isBefore(other)) return best
      const isNearer = !best || other.down > best.down || (other.down === best.down && other.from >= best.from)
      return isNearer ? other : best
    }, undefined)
    result.splice(nearest ? result.indexOf(nearest) + 1 : 0, 0, item)
  }
  return result
}

/** Every word of a note gets the note's rectangle, in ten-thousandths of the displayed page. */
export function noteBoxes(
  text: string,
  { start, length, rectangle }: { readonly start: number; readonly length: number; readonly rectangle: Rectangle },
  viewport: Viewport,
): WordBox[] {
  const [left, bottom, right, top] = rectangle
  const { width, height } = viewport
  const corners = [viewport.convertToViewportPoint(left, bottom), viewport.convertToViewportPoint(right, top)]
  const share = (axis: 0 | 1, size: number) =>
    corners.map((corner) => Math.round((Math.min(size, Math.max(0, corner[axis] ?? 0)) / size) * 10_000))
  const [across, down] = [share(0, width), share(1, height)]
  const [x, y] = [Math.min(...across), Math.min(...down)]
  const [noteWidth, noteHeight] = [Math.max(...across) - x, Math.max(...down) - y]
  return [...text.slice(start, start + length).matchAll(/\S+/g)].map(({ index, 0: word }): WordBox => [
    start + index,
    word.length,
    x,
    y,
    noteWidth,
    noteHeight,
  ])
}

interface Viewport {
  readonly width: number
  readonly height: number
  readonly convertToViewportPoint: (x: number, y: number) => readonly number[]
}
