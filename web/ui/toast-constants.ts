/** How long a toast stays on the page. At most one is shown: a new toast takes the place of the older one. */
export const TOAST_DISPLAY_MS = 5000

/** A closed toast leaves the state after this time. */
export const TOAST_REMOVAL_DELAY_MS = 1_000_000

/** A swipe to the right of more than this many CSS pixels closes a toast. */
export const TOAST_SWIPE_PX = 50
