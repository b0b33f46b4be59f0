/** Reads MODEL_PRICES: a table of prices, or the name of a file with one. */
import { readFile } from 'node:fs/promises'
import { AppError, messageOf } from '#server/base/errors.ts'
import { type ModelPrice, parsePrices } from '#server/providers/model-prices.ts'

/** @throws AppError `startup` */
export async function readPrices(given: string | undefined): Promise<Readonly<Record<string, ModelPrice>>> {
  if (given === undefined) return {}
  if (given.startsWith('{')) return parsePrices(given)
  const text = await readFile(given, 'utf8').catch((error: unknown) => {
    throw new AppError('startup', `MODEL_PRICES names ${given}, which cannot be read: ${messageOf(error)}.`, {
      cause: error,
    })
  })
  return parsePrices(text)
}
