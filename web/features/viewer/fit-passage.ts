/**
 * A page that is fitted to the width of a phone is too small to read: there the column in which the passage stands fills
 * the pane instead, as far as its letters want to be larger.
 */

interface Box {
  left: number
  right: number
  top: number
  bottom: number
}

/** Where a passage is to be read: the sides of its column, and how high its letters stand, in pixels. */
export interface Column {
  left: number
  right: number
  letterHeight: number
}

/** Wider panes show a whole page in letters that can be read. */
const NARROW_PX = 480
const READABLE_PX = 14
/** Lines so far above and below the passage belong to what is read with it. */
const LINES_AROUND = 8
/** Less than this is no gain. */
const LEAST_CHANGE = 1.1
const LARGEST_ZOOM = 3

/** Kept free at either side of the column. */
export const COLUMN_MARGIN = 12

/** The column of a passage: as wide as itself and the lines near it that stand above or below any of it. */
export function columnOf(marks: readonly Box[], around: readonly Box[]): Column | null {
  const [first] = marks
  if (!first) return null
  const letterHeight = first.bottom - first.top
  const sides = (boxes: readonly Box[]) => ({
    left: Math.min(...boxes.map(({ left }) => left)),
    right: Math.max(...boxes.map(({ right }) => right)),
  })
  const passage = sides(marks)
  const top = Math.min(...marks.map((mark) => mark.top)) - LINES_AROUND * letterHeight
  const bottom = Math.max(...marks.map((mark) => mark.bottom)) + LINES_AROUND * letterHeight
  const near = around.filter(
    (box) => box.left < passage.right && box.right > passage.left && box.top < bottom && box.bottom > top,
  )
  return { ...sides([...marks, ...near]), letterHeight }
}

/** The zoom at which a column is read in a pane; the one of now where another would be no gain. */
export function zoomToRead(column: Column, paneWidth: number, zoom: number): number {
  const width = column.right - column.left
  if (paneWidth >= NARROW_PX || width <= 0 || column.letterHeight <= 0) return zoom
  const wanted = zoom * Math.min((paneWidth - 2 * COLUMN_MARGIN) / width, READABLE_PX / column.letterHeight)
  const next = Math.min(LARGEST_ZOOM, Math.max(1, wanted))
  return Math.max(next / zoom, zoom / next) < LEAST_CHANGE ? zoom : next
}
