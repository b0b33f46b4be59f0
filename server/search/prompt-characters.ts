/** Sizes of texts in a model's window, in characters of Latin text. Pure. */

/** Scripts whose characters make about one token each, where Latin letters make one of four. */
const DENSE = String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]`
const DENSE_LETTERS = new RegExp(DENSE, 'gu')
const DENSE_LETTER = new RegExp(DENSE, 'u')
const LATIN_LETTERS_PER_TOKEN = 4

/** Characters of Latin text that take as much of a model's window. */
export const promptCharacters = (text: string): number =>
  text.length + (text.match(DENSE_LETTERS)?.length ?? 0) * (LATIN_LETTERS_PER_TOKEN - 1)

/** The beginning of the text that takes this room, never empty and never within a character. */
export function clipToRoom(text: string, room: number): string {
  if (text.length * LATIN_LETTERS_PER_TOKEN <= room) return text
  const longest = text.slice(0, room)
  if (!DENSE_LETTER.test(longest) && longest.isWellFormed()) return longest
  let [taken, end] = [0, 0]
  for (const character of text) {
    taken += character.length + (DENSE_LETTER.test(character) ? LATIN_LETTERS_PER_TOKEN - 1 : 0)
    if (taken > room && end > 0) break
    end += character.length
  }
  return text.slice(0, end)
}
