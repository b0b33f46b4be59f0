/** Digits, plain or in groups of three, with a fraction. A leading zero means a code or telephone number. */
const DIGITS = String.raw`(?!0\d)(?:\d{1,3}(?:[.,'’\u00a0\u202f ]\d{3})+|\d+)(?:[.,]\d+)?(?:[eE][-+]?\d+)?`
const SIGN = '[-+−]?'
const MONEY = String.raw`(?:\p{Sc}|[A-Z]{3})`

/** Numbers as workbooks show them: signed or in accounting brackets, with currency or per cent. Dates do not count. */
const NUMBER = new RegExp(
  String.raw`^(?:${SIGN}(?:${MONEY}\s?)?${SIGN}${DIGITS}\s?(?:[%‰]|${MONEY})?|\((?:${MONEY}\s?)?${DIGITS}\s?${MONEY}?\))$`,
  'u',
)

const isNumber = (text: string): boolean => NUMBER.test(text.trim())

/** Marks right-aligned cells of a table: numbers, and the words in the first full row above a column of numbers. */
export const numberCells = (rows: readonly (readonly string[])[]): boolean[][] =>
  rows.map((_, index) => numbersIn(rows, index))

/** As `numberCells`, for one row of many. */
export function numbersIn(rows: readonly (readonly string[])[], index: number): boolean[] {
  const row = rows[index] ?? []
  const isHead = row.length > 1 && rows.findIndex((other) => other.length > 1) === index
  const headsNumbers = (column: number): boolean => {
    const next = rows.slice(index + 1).find((other) => other.length > 1 && (other[column] ?? '').trim() !== '')
    return isNumber(next?.[column] ?? '')
  }
  return row.map((text, column) => row.length > 1 && (isNumber(text) || (isHead && headsNumbers(column))))
}
