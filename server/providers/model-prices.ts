/** Prices of models, from which the cost of an answer is computed. */
import { z } from 'zod'
import { AppError, messageOf } from '#server/base/errors.ts'

/** In dollars for a million tokens, which are millionths of a dollar for one. */
export interface ModelPrice {
  readonly in: number
  readonly out: number
}

/** List prices in US dollars of models until 2025, which change. The longest name of which a model is a version counts. */
const LIST_PRICES: Readonly<Record<string, ModelPrice>> = {
  'claude-opus-4': { in: 15, out: 75 },
  'claude-opus-4-5': { in: 5, out: 25 },
  'claude-sonnet-4': { in: 3, out: 15 },
  'claude-haiku-4': { in: 1, out: 5 },
  'claude-3-5-haiku': { in: 0.8, out: 4 },
  'gpt-4o': { in: 2.5, out: 10 },
  'gpt-4o-mini': { in: 0.15, out: 0.6 },
  'gpt-4.1': { in: 2, out: 8 },
  'gpt-4.1-mini': { in: 0.4, out: 1.6 },
  'gpt-4.1-nano': { in: 0.1, out: 0.4 },
  'gpt-5': { in: 1.25, out: 10 },
  'gpt-5-mini': { in: 0.25, out: 2 },
  'gpt-5-nano': { in: 0.05, out: 0.4 },
}

const FREE: ModelPrice = { in: 0, out: 0 }
const MAX_PRICE = 100_000

const price = z.number().nonnegative().max(MAX_PRICE)
const priceTable = z.record(z.string().min(1), z.strictObject({ in: price, out: price }))

/** @throws AppError `startup` */
export function parsePrices(json: string): Readonly<Record<string, ModelPrice>> {
  try {
    return priceTable.parse(JSON.parse(json))
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error).replaceAll('\n', ' ') : messageOf(error)
    throw new AppError(
      'startup',
      `MODEL_PRICES holds no table of prices such as {"my-model": {"in": 1, "out": 4}}: ${reason}`,
      {
        cause: error,
      },
    )
  }
}

/** A date, a further number, a name of the newest version, or a tag: what follows makes another model else. */
const VERSION_SUFFIX = /^(?:$|[@:]|-(?:v?\d|latest$|preview$))/

const isVersionOf = (spelling: string, name: string): boolean =>
  spelling.startsWith(name) && VERSION_SUFFIX.test(spelling.slice(name.length))

export type PriceOf = (identifier: string) => ModelPrice

/** Own entries come before the list prices. A model of a compatible server is also found without the prefix of its provider. */
export function createPriceTable(own: Readonly<Record<string, ModelPrice>> = {}): PriceOf {
  const names = (table: Readonly<Record<string, ModelPrice>>) =>
    Object.entries(table).toSorted(([one], [other]) => other.length - one.length)
  const entries = [...names(own), ...names(LIST_PRICES)]
  return (identifier) => {
    const spellings = [identifier, identifier.slice(identifier.indexOf('/') + 1)]
    return entries.find(([name]) => spellings.some((spelling) => isVersionOf(spelling, name)))?.[1] ?? FREE
  }
}

/** In millionths of a dollar, rounded up. */
export const costOf = (tokens: { readonly in: number; readonly out: number }, price: ModelPrice): number =>
  Math.ceil(tokens.in * price.in + tokens.out * price.out)
