/** A page fitted to a phone is too small to read: the passage's column fills the pane, until its letters are readable. */

interface Box {
  left: number
  right: number
  top: number
  bottom: number
}

/** The sides of a passage's column and the height of its letters, in pixels. */
export interface Column {
  left: number
  right: number
  letterHeight: number
}

/** In wider panes the letters of a whole page are readable. */
const NARROW_PX = 480
const READABLE_PX = 14
/** Lines within this distance of the passage, in line heights, count as its column. */
const LINES_AROUND = 8
/** A smaller change of zoom is not worth it. */
const MIN_CHANGE = 1.1
const LARGEST_ZOOM = 3

/** Free space at either side of the column, in pixels. */
export const COLUMN_MARGIN = 12

/** The column of a passage: as wide as the passage and the nearby lines above or below it. */
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

/** The zoom at which a column is readable in a pane; the current zoom where another would be no gain. */
export function zoomToRead(column: Column, paneWidth: number, zoom: number): number {
  const width = column.right - column.left
  if (paneWidth >= NARROW_PX || width <= 0 || column.letterHeight <= 0) return zoom
  const wanted = zoom * Math.min((paneWidth - 2 * COLUMN_MARGIN) / width, READABLE_PX / column.letterHeight)
  const next = Math.min(LARGEST_ZOOM, Math.max(1, wanted))
  return Math.max(next / zoom, zoom / next) < MIN_CHANGE ? zoom : next
}
