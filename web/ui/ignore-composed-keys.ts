/** The key code of a press that an input method handles itself. */
const COMPOSED = 229

/**
 * Hides the keys of an input method from every handler of the page: Enter ends a composition, Escape cancels it and
 * arrows choose in it, and none of them is meant for the page. Safari reports the Enter that ends a composition after its
 * end, so that only the key code tells.
 */
export function ignoreComposedKeys(): void {
  addEventListener(
    'keydown',
    (event) => {
      // eslint-disable-next-line @typescript-eslint/no-deprecated -- nothing else tells in Safari
      if (event.isComposing || event.keyCode === COMPOSED) event.stopImmediatePropagation()
    },
    { capture: true },
  )
}
