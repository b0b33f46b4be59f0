import { expect, test } from 'vitest'
import { costOf, createPriceTable, parsePrices } from './model-prices.ts'

test('the longest name of which a model is a version gives its price, own entries first', () => {
  const priceOf = createPriceTable({ 'gpt-5-mini': { in: 9, out: 9 }, 'house-model': { in: 1, out: 4 } })
  expect(priceOf('gpt-5-nano-2025-08-07')).toEqual({ in: 0.05, out: 0.4 })
  expect(priceOf('gpt-5-mini-2025-08-07')).toEqual({ in: 9, out: 9 })
  expect(priceOf('openai-compatible/house-model:8b')).toEqual({ in: 1, out: 4 })
  expect(priceOf('openai-compatible/openai/gpt-4o')).toEqual({ in: 0, out: 0 })
  expect(priceOf('unknown')).toEqual({ in: 0, out: 0 })
})

test('an own name comes before a longer built-in one', () => {
  expect(createPriceTable({ 'claude-opus-4': { in: 7, out: 7 } })('claude-opus-4@20250514')).toEqual({ in: 7, out: 7 })
})

test.each(['gpt-5-pro', 'gpt-5.1', 'gpt-5.5-mini', 'gpt-50', 'gpt-5-minimal', 'gpt-4.1-nanotron'])(
  'another model, %s, takes no price of one with a name that it begins with',
  (identifier) => {
    expect(createPriceTable()(identifier)).toEqual({ in: 0, out: 0 })
  },
)

test.each(['gpt-5', 'gpt-5-2025-08-07', 'gpt-5-latest', 'gpt-5@latest', 'gpt-5:free', 'openai/gpt-5'])(
  '%s is a version of gpt-5',
  (identifier) => {
    expect(createPriceTable()(identifier)).toEqual({ in: 1.25, out: 10 })
  },
)

test('a later number of a version costs as the one before it', () => {
  expect(createPriceTable()('claude-sonnet-4-5')).toEqual({ in: 3, out: 15 })
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
