const FIRST_LETTER = /\p{L}/u
const RIGHT_TO_LEFT =
  /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u

/** By the first letter, as `dir="auto"` does; but that attribute ignores descendants with a direction of their own. */
export function directionOf(texts: readonly string[]): 'ltr' | 'rtl' {
  for (const text of texts) {
    const letter = FIRST_LETTER.exec(text)?.[0]
    if (letter !== undefined) return RIGHT_TO_LEFT.test(letter) ? 'rtl' : 'ltr'
  }
  return 'ltr'
}
