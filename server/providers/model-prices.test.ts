import { expect, test } from 'vitest'
import { costOf, createPriceTable, parsePrices } from './model-prices.ts'

test('the longest name that a model begins with gives its price, own entries first', () => {
  const priceOf = createPriceTable({ 'gpt-5-mini': { in: 9, out: 9 }, 'house-model': { in: 1, out: 4 } })
  expect(priceOf('gpt-5-nano-2025-08-07')).toEqual({ in: 0.05, out: 0.4 })
  expect(priceOf('gpt-5-mini-2025-08-07')).toEqual({ in: 9, out: 9 })
  expect(priceOf('openai-compatible/house-model:8b')).toEqual({ in: 1, out: 4 })
  expect(priceOf('openai-compatible/openai/gpt-4o')).toEqual({ in: 0, out: 0 })
  expect(priceOf('unknown')).toEqual({ in: 0, out: 0 })
})

test('a short own name comes before a longer built-in one', () => {
  expect(createPriceTable({ gpt: { in: 7, out: 7 } })('gpt-4o-mini')).toEqual({ in: 7, out: 7 })
})

test('costs are rounded up to a millionth of a dollar', () => {
  expect(costOf({ in: 1_000_000, out: 1_000_000 }, { in: 3, out: 15 })).toBe(18_000_000)
  expect(costOf({ in: 1, out: 1 }, { in: 0.15, out: 0.6 })).toBe(1)
})

test.each(['', '[]', '{"a": 1}', '{"a": {"in": -1, "out": 1}}', '{"a": {"in": 1}}', '{"a": {"in": 1, "out": "2"}}'])(
  'MODEL_PRICES "%s" stops the start',
  (json) => {
    expect(() => parsePrices(json)).toThrow(/^MODEL_PRICES holds no table of prices/)
  },
)
