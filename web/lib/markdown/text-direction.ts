const FIRST_LETTER = /\p{L}/u
const RIGHT_TO_LEFT =
  /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u

/**
 * The direction of texts that belong together, by the first letter in them, as `dir="auto"` finds it: for what holds
 * blocks that have a direction of their own, which that attribute does not look into.
 */
export function directionOf(texts: readonly string[]): 'ltr' | 'rtl' {
  for (const text of texts) {
    const letter = FIRST_LETTER.exec(text)?.[0]
    if (letter !== undefined) return RIGHT_TO_LEFT.test(letter) ? 'rtl' : 'ltr'
  }
  return 'ltr'
}
