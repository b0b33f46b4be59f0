/** A tooltip opens after the pointer has rested on its element for this time. */
export const TOOLTIP_OPEN_DELAY_MS = 700

/** Within this time after a tooltip has closed, the next one opens at once. */
export const TOOLTIP_SKIP_DELAY_MS = 300
