import { SEGMENTED } from '#server/search/text/tokenizer.ts'

/** Scripts without blanks between words, "ー" and "々" among them, so that letters around a name say nothing. */
const UNSPACED = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー々${SEGMENTED}`
/** Written with the word after them: the Arabic and Hebrew articles and prepositions. */
const WITH_PREFIXES = String.raw`\p{Script=Arabic}\p{Script=Hebrew}`
/** Particles are written with the word before them. */
const WITH_PARTICLES = String.raw`\p{Script=Hangul}`
const WORD = String.raw`\p{L}\p{N}\p{M}`
const ENDS_IN_WORD = new RegExp(`[[${WORD}]--[${UNSPACED}${WITH_PREFIXES}]]$`, 'v')
const BEGINS_IN_WORD = new RegExp(`^[[${WORD}]--[${UNSPACED}${WITH_PARTICLES}]]`, 'v')

/** Whether the text holds the name as words of its own, ignoring case: "port.pdf", but not within "report.pdf". Pure. */
export function occursAsName(text: string, name: string): boolean {
  if (name === '') return false
  const [where, what] = [text.toLowerCase(), name.toLowerCase()]
  for (let at = where.indexOf(what); at >= 0; at = where.indexOf(what, at + 1)) {
    const [before, after] = [where.slice(Math.max(0, at - 2), at), where.slice(at + what.length, at + what.length + 2)]
    if (!ENDS_IN_WORD.test(before) && !BEGINS_IN_WORD.test(after)) return true
  }
  return false
}
