/** Numbers in Chinese characters: in positions (一九三四) or with units (千九百三十四). */

const DIGITS: Readonly<Record<string, number>> = {
  〇: 0,
  零: 0,
  一: 1,
  二: 2,
  三: 3,
  四: 4,
  五: 5,
  六: 6,
  七: 7,
  八: 8,
  九: 9,
}
const UNITS: Readonly<Record<string, number>> = { 十: 10, 百: 100, 千: 1_000 }
const LARGE_UNITS: Readonly<Record<string, number>> = { 万: 1e4, 萬: 1e4, 億: 1e8, 亿: 1e8 }
/** 兆 is as often part of a word, which the index splits into pairs. */
const VALUED_UNITS: Readonly<Record<string, number>> = { ...LARGE_UNITS, 兆: 1e12 }

const DIGIT = Object.keys(DIGITS).join('')
const SMALL = Object.keys(UNITS).join('')
const NUMERAL = new RegExp(`[${DIGIT}${SMALL}${Object.keys(LARGE_UNITS).join('')}]+`, 'g')
const POSITIONAL = new RegExp(`^[${DIGIT}]+$`)
/** "万" and "千" alone are rather part of a word or of "3万". */
const NO_NUMBER = /^(?:[千万萬億亿]|[百千万萬億亿]{2,})$/
/** Longer runs are no number that a person writes; a double has 15 digits. */
const MAX_CHARACTERS = 15

const digitByDigit = (numeral: string): string => Array.from(numeral, (character) => DIGITS[character] ?? '').join('')

/** The value of a numeral of these characters and of 兆. */
export function hanValue(numeral: string): number {
  if (POSITIONAL.test(numeral)) return Number(digitByDigit(numeral))
  let [total, part, digit] = [0, 0, 0]
  for (const character of numeral) {
    const unit = UNITS[character]
    const large = VALUED_UNITS[character]
    if (unit !== undefined) [part, digit] = [part + (digit || 1) * unit, 0]
    else if (large !== undefined) [total, part, digit] = [total + (part + digit || 1) * large, 0, 0]
    else digit = digit * 10 + (DIGITS[character] ?? 0)
  }
  return total + part + digit
}

/** With its zeros in front, where it is written digit by digit. */
function digitsOf(numeral: string): string | undefined {
  if (numeral.length > MAX_CHARACTERS || NO_NUMBER.test(numeral)) return undefined
  return POSITIONAL.test(numeral) ? digitByDigit(numeral) : String(hanValue(numeral))
}

export const replaceHanNumerals = (text: string): string =>
  text.replaceAll(NUMERAL, (numeral) => digitsOf(numeral) ?? numeral)

/** Two digits or more: a single one is as often part of a word (一般, 三角). */
export const hanNumbers = (text: string): string[] =>
  (text.match(NUMERAL) ?? []).flatMap((numeral) => {
    const digits = digitsOf(numeral)
    return digits === undefined || digits.length < 2 ? [] : [digits]
  })
