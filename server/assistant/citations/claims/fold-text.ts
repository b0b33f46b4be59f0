/** Length-preserving folding, so that offsets in the folded text are offsets in the text. */

/** Zeros of the decimal digits of other scripts; the nine digits after each follow it. */
const ZEROS = '٠۰०০੦૦௦౦೦൦๐໐၀០０'.split('').map((zero) => zero.charCodeAt(0))

const FOLDED: Readonly<Record<string, string>> = {
  '\u00a0': ' ',
  '\u2002': ' ',
  '\u2003': ' ',
  '\u2009': ' ',
  '\u202f': ' ',
  '\u3000': ' ',
  '\u00ad': '-',
  '‐': '-',
  '‑': '-',
  '−': '-',
  '–': '–',
  '٫': '.',
  '٬': ',',
  '٪': '%',
  '％': '%',
  '﹪': '%',
  '．': '.',
  '，': ',',
  '：': ':',
  '＄': '$',
  '￥': '¥',
  '／': '/',
  '（': '(',
  '）': ')',
  '～': '~',
  '〜': '~',
  İ: 'i',
}

function foldUnit(character: string): string {
  const known = FOLDED[character]
  if (known !== undefined) return known
  const code = character.charCodeAt(0)
  const zero = ZEROS.find((first) => code >= first && code <= first + 9)
  if (zero !== undefined) return String(code - zero)
  const small = character.toLowerCase()
  return small.length === character.length ? small : character
}

/** Lower case with ASCII digits, plain blanks and plain separators. */
export const foldText = (text: string): string => text.replace(/[^\n -@[-~]/g, foldUnit)

/** Replaces ranges by a character that is in no word and no number. */
export function blankOut(text: string, ranges: readonly { readonly start: number; readonly end: number }[]): string {
  let blanked = ''
  let from = 0
  for (const { start, end } of ranges.toSorted((one, other) => one.start - other.start)) {
    if (end <= from) continue
    const first = Math.max(start, from)
    blanked += text.slice(from, first) + '\ufffc'.repeat(end - first)
    from = end
  }
  return blanked + text.slice(from)
}
