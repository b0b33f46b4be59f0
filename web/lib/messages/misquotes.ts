/** Finds the quotations of an answer that its sources do not contain, ignoring differences of white space. */

const collapse = (text: string) => text.replace(/\s+/g, ' ').trim()
const escape = (text: string) => text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&')

/** Splits text into misquoted words and the rest; quotation marks belong to the rest. */
export function splitMisquotes(text: string, misquotes: readonly string[]): { text: string; isMisquote: boolean }[] {
  const whole = [{ text, isMisquote: false }]
  if (misquotes.length === 0 || !/["“”„«»「『]/.test(text)) return whole
  const words = misquotes
    .toSorted((one, other) => other.length - one.length)
    .map((misquote) => misquote.split(' ').map(escape).join('\\s+'))
  const pattern = new RegExp(`((?<=["“„«»「『]\\s{0,3})(?:${words.join('|')})(?=\\s{0,3}["“”»«」』]))`, 'u')
  return text
    .split(pattern)
    .map((piece, index) => ({ text: piece, isMisquote: index % 2 === 1 }))
    .filter((piece) => piece.text !== '')
}

/** @param quote the text of a block quote, without its markers */
export const isMisquotedBlock = (quote: string, misquotes: readonly string[]): boolean =>
  misquotes.length > 0 && misquotes.includes(collapse(quote))
