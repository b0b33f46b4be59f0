/** Whole, or in groups of three, with a fraction; one that begins with a nought is a code or a telephone number. */
const DIGITS = String.raw`(?!0\d)(?:\d{1,3}(?:[.,'’\u00a0\u202f ]\d{3})+|\d+)(?:[.,]\d+)?(?:[eE][-+]?\d+)?`
const SIGN = '[-+−]?'
const MONEY = String.raw`(?:\p{Sc}|[A-Z]{3})`

/** As workbooks show them: with a sign or in an accountant's brackets, with money or per cent. Dates are none. */
const NUMBER = new RegExp(
  String.raw`^(?:${SIGN}(?:${MONEY}\s?)?${SIGN}${DIGITS}\s?(?:[%‰]|${MONEY})?|\((?:${MONEY}\s?)?${DIGITS}\s?${MONEY}?\))$`,
  'u',
)

const isNumber = (text: string): boolean => NUMBER.test(text.trim())

/**
 * Which cells of a table stand at the right: numbers, so that their places stand under one another, and the words in the
 * first full row above a column of them.
 */
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
