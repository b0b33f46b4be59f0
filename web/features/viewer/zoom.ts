/** Zoom is relative to the pane: at 1 a page is as wide as the pane. */

const STEPS = [0.5, 0.67, 0.8, 1, 1.25, 1.5, 2, 3, 4]
/** Smaller steps are invisible; a zoom fitted to a passage may be close to a step. */
const MIN_CHANGE = 1.1

/** The next step up or down, or the current zoom at either end. */
export function stepZoom(zoom: number, direction: -1 | 1): number {
  const next =
    direction === 1
      ? STEPS.find((step) => step > zoom * MIN_CHANGE)
      : STEPS.findLast((step) => step < zoom / MIN_CHANGE)
  return next ?? zoom
}
