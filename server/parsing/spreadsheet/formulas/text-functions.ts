/** Text functions of formulas. */
import type { FormulaFunction, FunctionContext } from './function-context.ts'
import { CellError, NOT_AVAILABLE, type Scalar, toBoolean, toNumber, toOperand, toText, VALUE_ERROR } from './values.ts'
import { readWildcards, stepsToMatch } from './wildcards.ts'

const MAX_TEXT = 32_767

/** Texts and numbers of the arguments, or the first error. */
const ofTexts =
  (
    compute: (
      texts: readonly string[],
      numbers: readonly (number | undefined)[],
      countSteps: FunctionContext['countSteps'],
    ) => Scalar,
  ): FormulaFunction =>
  (args, context) =>
    context.applyToScalars(args.map(context.evaluate), (values) => {
      const texts = values.map(toText)
      const error = texts.find((text) => text instanceof CellError)
      if (error) return error
      const numbers = values.map((value) => {
        const number = toNumber(value)
        return typeof number === 'number' ? number : undefined
      })
      const result = compute(
        texts.filter((text) => typeof text === 'string'),
        numbers,
        context.countSteps,
      )
      return typeof result === 'string' && result.length > MAX_TEXT ? VALUE_ERROR : result
    })

const join =
  (isWhole: boolean): FormulaFunction =>
  (args, context) => {
    let joined = ''
    for (const argument of args) {
      const value = context.evaluate(argument)
      for (const cell of isWhole ? context.toMatrix(value).flat() : [context.toScalar(value)]) {
        const text = toText(cell)
        if (text instanceof CellError) return text
        joined += text
        if (joined.length > MAX_TEXT) return VALUE_ERROR
      }
    }
    return joined
  }

/** Halves of characters are none. */
const toCharacter = (code: number): Scalar =>
  code >= 0xd800 && code <= 0xdfff ? NOT_AVAILABLE : String.fromCodePoint(code)

const find = (within: string, start: number, search: (rest: string) => number): Scalar => {
  if (start < 1) return VALUE_ERROR
  const at = search(within.slice(start - 1))
  return at === -1 ? VALUE_ERROR : at + start
}

export const TEXT_FUNCTIONS: Readonly<Record<string, FormulaFunction>> = {
  CONCATENATE: join(false),
  CONCAT: join(true),
  TEXTJOIN([separator, skipEmpty, ...args], context) {
    const between = toText(context.toScalar(context.evaluate(separator)))
    const skips = toBoolean(context.toScalar(context.evaluate(skipEmpty)))
    if (between instanceof CellError) return between
    const texts = args.flatMap((argument) => context.toMatrix(context.evaluate(argument)).flat()).map(toText)
    const error = texts.find((text) => text instanceof CellError)
    const shown = texts.filter((text) => typeof text === 'string')
    const joined = shown.filter((text) => skips !== true || text !== '').join(between)
    return error ?? (joined.length > MAX_TEXT ? VALUE_ERROR : joined)
  },
  /** Its words; the address is added where the cell is written. */
  HYPERLINK([address, words], context) {
    return context.toScalar(context.evaluate(words ?? address))
  },
  LEN: ofTexts(([text = '']) => text.length),
  LEFT: ofTexts(([text = ''], [, count = 1]) => (count < 0 ? VALUE_ERROR : text.slice(0, Math.trunc(count)))),
  RIGHT: ofTexts(([text = ''], [, count = 1]) =>
    count < 0 ? VALUE_ERROR : text.slice(Math.max(0, text.length - Math.trunc(count))),
  ),
  MID: ofTexts(([text = ''], [, start, count]) =>
    start === undefined || count === undefined || start < 1 || count < 0
      ? VALUE_ERROR
      : text.slice(Math.trunc(start) - 1, Math.trunc(start) - 1 + Math.trunc(count)),
  ),
  UPPER: ofTexts(([text = '']) => text.toUpperCase()),
  LOWER: ofTexts(([text = '']) => text.toLowerCase()),
  PROPER: ofTexts(([text = '']) =>
    text.toLowerCase().replaceAll(/(?<!\p{L})\p{L}/gu, (letter) => letter.toUpperCase()),
  ),
  TRIM: ofTexts(([text = '']) => text.replaceAll(/ +/g, ' ').replace(/^ | $/g, '')),
  CLEAN: ofTexts(([text = '']) => text.replaceAll(/\p{Cc}/gu, '')),
  EXACT: ofTexts(([one, other]) => one === other),
  REPT: ofTexts(([text = ''], [, count]) =>
    count === undefined || count < 0 || count * text.length > MAX_TEXT ? VALUE_ERROR : text.repeat(Math.trunc(count)),
  ),
  SUBSTITUTE: ofTexts(([text = '', old = '', replacement = ''], [, , , which]) => {
    if (old === '') return text
    if (which === undefined) return text.replaceAll(old, () => replacement)
    let count = 0
    return text.replaceAll(old, (found) => (++count === which ? replacement : found))
  }),
  REPLACE: ofTexts(([text = '', , , replacement = ''], [, start, count]) =>
    start === undefined || count === undefined || start < 1 || count < 0
      ? VALUE_ERROR
      : text.slice(0, start - 1) + replacement + text.slice(start - 1 + count),
  ),
  FIND: ofTexts(([wanted = '', within = ''], [, , start = 1]) => find(within, start, (rest) => rest.indexOf(wanted))),
  SEARCH: ofTexts(([wanted = '', within = ''], [, , start = 1], countSteps) => {
    countSteps(stepsToMatch(within))
    return find(within, start, readWildcards(wanted).find)
  }),
  VALUE: ofTexts(([text = '']) => toOperand(text)),
  CHAR: ofTexts((_, [code]) =>
    code === undefined || code < 1 || code > 127 ? VALUE_ERROR : String.fromCharCode(code),
  ),
  UNICHAR: ofTexts((_, [code]) =>
    code === undefined || code < 1 || code > 0x10ffff ? VALUE_ERROR : toCharacter(Math.trunc(code)),
  ),
  CODE: ofTexts(([text = '']) => (text === '' ? VALUE_ERROR : text.charCodeAt(0))),
}
