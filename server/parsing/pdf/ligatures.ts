/**
 * The letters of ligatures in right-to-left text. A glyph for several letters, such as lam with alef, names them in the order of
 * reading. pdf.js turns each run of such text around letter by letter, so that the letters of one glyph change places: of
 * "لإدارة" it makes "إلدارة".
 */
import { type TextItem } from './lines.ts'

/** Of one code unit, so that letters can be counted as such; beyond those there are only mathematical ones. */
const ARABIC_LETTER = /(?=\p{L})(?=[\0-\uffff])\p{Script=Arabic}/gu
const LAM_ALEF = /^ل[اأإآٱ]$/
/** What a turned lam-alef looks like; the article looks the same. */
const ALEF_LAM = /[اأإآٱ]ل/

/** Fewer letters are taken only where they are expected: further on they may be those of another word. */
const MIN_SEARCH_LETTERS = 6

export const mayHoldLigatures = ({ str }: TextItem): boolean => ALEF_LAM.test(str)

const arabicLetters = (text: string): string[] => text.match(ARABIC_LETTER) ?? []

/**
 * The items with the letters of ligatures in the order of reading; each keeps its length.
 * @param drawn what each glyph of the page stands for, in the order of drawing, which is that of the items.
 */
export function reorderLigatures(items: readonly TextItem[], drawn: readonly string[]): TextItem[] {
  const ligatures = new Map<number, string[]>()
  let letters = ''
  let inReadingOrder = 0
  for (const glyph of drawn) {
    const own = arabicLetters(glyph)
    if (own.length > 1) {
      ligatures.set(letters.length, own)
      // Some programs turn them around beforehand.
      if (LAM_ALEF.test(own.join(''))) inReadingOrder += 1
      if (LAM_ALEF.test(own.toReversed().join(''))) inReadingOrder -= 1
    }
    letters += own.join('')
  }
  if (inReadingOrder <= 0) return [...items]
  let cursor = 0
  return items.map((item) => {
    const seen = arabicLetters(item.str).toReversed().join('')
    const isHere = letters.startsWith(seen, cursor)
    const start = isHere || seen.length < MIN_SEARCH_LETTERS ? cursor : letters.indexOf(seen, cursor)
    if (seen === '' || start < 0 || (start === cursor && !isHere)) return item
    cursor = start + seen.length
    const turned = seen.split('')
    for (let place = start; place < cursor; place += 1) {
      const ligature = ligatures.get(place)
      if (ligature && place + ligature.length <= cursor)
        turned.splice(place - start, ligature.length, ...ligature.toReversed())
    }
    return { ...item, str: item.str.replaceAll(ARABIC_LETTER, () => turned.pop() ?? '') }
  })
}
