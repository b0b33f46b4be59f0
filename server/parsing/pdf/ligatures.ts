/** Restores Arabic ligatures, whose letters are in reading order: pdf.js reverses them too ("لإدارة": "إلدارة"). */
import type { TextItem } from './lines.ts'

/** Matches one code unit only, so that letters can be counted by length. */
const ARABIC_LETTER = /(?=\p{L})(?=[\0-\uffff])\p{Script=Arabic}/gu
const LAM_ALEF = /^ل[اأإآٱ]$/
/** A reversed lam-alef; the article looks identical. */
const ALEF_LAM = /[اأإآٱ]ل/

/** Shorter words could match another word further on. */
const MIN_SEARCH_LETTERS = 6

export const mayHoldLigatures = ({ str }: TextItem): boolean => ALEF_LAM.test(str)

const arabicLetters = (text: string): string[] => text.match(ARABIC_LETTER) ?? []

/** Each item keeps its length. @param drawn the text of each glyph, in drawing order. */
export function reorderLigatures(items: readonly TextItem[], drawn: readonly string[]): TextItem[] {
  const ligatures = new Map<number, string[]>()
  let letters = ''
  let inReadingOrder = 0
  for (const glyph of drawn) {
    const own = arabicLetters(glyph)
    if (own.length > 1) {
      ligatures.set(letters.length, own)
      // Some programs write the letters reversed.
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
