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
export function numberCells(rows: readonly (readonly string[])[]): boolean[][] {
  const head = rows.findIndex((row) => row.length > 1)
  const headsNumbers = (column: number): boolean => {
    const next = rows.slice(head + 1).find((row) => row.length > 1 && (row[column] ?? '').trim() !== '')
    return isNumber(next?.[column] ?? '')
  }
  return rows.map((row, index) =>
    row.map((text, column) => row.length > 1 && (isNumber(text) || (index === head && headsNumbers(column)))),
  )
}
