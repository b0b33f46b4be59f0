/** Finds TeX in text: `$…$`, `$$…$$`, `\(…\)` and `\[…\]`, but no sums of money. */

export type Maths = {
  raw: string
  source: string
  display: boolean
}

/** Between delimiters; a blank line ends every formula. */
const BODY = String.raw`(?:(?!\n[ \t]*\n)[^$\\]|\\[^)\]])+?`
const DISPLAY = new RegExp(String.raw`^(?:\$\$(?!\$)(${BODY})\$\$|\\\[(${BODY})\\\])`)
const ROUND = new RegExp(String.raw`^\\\((${BODY})\\\)`)
const DOLLARS = /^\$(?![\s$])((?:[^$\\\n]|\\[^\n])+?)(?<!\s)\$(?!\$)/
/** Quoted words in escaped brackets, as in `\\[see 2\\]`. */
const BRACKETED = /^(?:[\p{L}\p{N}\p{M}\s.,:;!?'’"“”()%§&/–—-]|\\[\\`*_[\]<>#|~])*$/u
const LINE_END = /^[ \t]*(?:\n+|$)/

/** `$5 and 10$` is a sum of money followed by words. */
const SUM = /^\d[^\\]*?(?<=[\s,.])(?:\p{L}{3,}|to|or|of|in)(?=[\s,.;:'’]|$)/u
/** `$n$th` is maths, `$HOME/$USER` is not. */
const GOES_ON = /^(?!(?:st|nd|rd|th|s)\b)[\p{L}\p{N}]/u
const BEGUN = /[\p{L}\p{N}$\\]$/u

const displayAt = (text: string): RegExpExecArray | null => {
  const found = DISPLAY.exec(text)
  return found?.[2] !== undefined && BRACKETED.test(found[2]) ? null : found
}

/** The formula at the beginning of `text`, or null; `before` is the preceding text. */
export function inlineMathsAt(text: string, before: string): Maths | null {
  const display = displayAt(text)
  if (display !== null) return { raw: display[0], source: (display[1] ?? display[2] ?? '').trim(), display: true }
  const round = ROUND.exec(text)
  if (round !== null) return { raw: round[0], source: (round[1] ?? '').trim(), display: false }
  const dollars = DOLLARS.exec(text)
  if (dollars === null || BEGUN.test(before)) return null
  const [raw, source = ''] = dollars
  return SUM.test(source) || GOES_ON.test(text.slice(raw.length)) ? null : { raw, source, display: false }
}

/** The formula on lines of its own at the beginning of `text`, or null; `raw` includes the line end. */
export function displayMathsAt(text: string): Maths | null {
  const indent = /^ {0,3}/.exec(text)?.[0].length ?? 0
  const found = displayAt(text.slice(indent))
  if (found === null) return null
  const length = indent + found[0].length
  const end = LINE_END.exec(text.slice(length))
  return end === null
    ? null
    : { raw: text.slice(0, length + end[0].length), source: (found[1] ?? found[2] ?? '').trim(), display: true }
}

/** The index of an unclosed display formula in the last block, or -1. */
export function openMathsIndex(text: string): number {
  const block = text.lastIndexOf('\n\n') + 1
  const opening = /^ {0,8}(?=\$\$|\\\[)/gm
  opening.lastIndex = block
  for (let mark = opening.exec(text); mark !== null; mark = opening.exec(text)) {
    const formula = DISPLAY.exec(text.slice(mark.index + mark[0].length))
    if (formula === null) return mark.index
    opening.lastIndex = mark.index + mark[0].length + formula[0].length
  }
  return -1
}
