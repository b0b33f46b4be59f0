import { expect, test } from 'vitest'
import { createResultBudget } from './result-budget.ts'
import { loadCounter } from './tokens.ts'

const WORDS = 'one two three four five six seven eight nine ten '
const HUGE = WORDS.repeat(4_100).slice(0, 200_000)

test('a result that fits is unchanged', async () => {
  const budget = createResultBudget({ contextWindow: 8_000, provider: 'OpenAI' })
  budget.reserve('A short request.')
  expect(await budget.fit('The sum is 3.')).toEqual({ text: 'The sum is 3.', omission: null })
})

test('200,000 characters are cut to a share of the window, and the result says so', async () => {
  const budget = createResultBudget({ contextWindow: 8_000, provider: 'OpenAI' })
  budget.reserve('A short request.')
  const { text, omission } = await budget.fit(HUGE)
  expect(HUGE.startsWith(text)).toBe(true)
  expect(text.length).toBeGreaterThan(5_000)
  expect(await (await loadCounter('OpenAI')).count(text)).toBeLessThanOrEqual(3_000)
  expect(omission).toBe(
    `Only the first ${text.length.toLocaleString('en')} of 200,000 characters fit into the model's window.`,
  )
})

test.each(['OpenAI', 'Anthropic', 'Somebody'])(
  'however many results of %s there are, together with the request they fit the window',
  async (provider) => {
    const contextWindow = 6_000
    const budget = createResultBudget({ contextWindow, provider })
    const request = WORDS.repeat(150)
    budget.reserve(request, 500)
    const results = await Promise.all(Array.from({ length: 24 }, () => budget.fit(HUGE)))
    const counter = await loadCounter(provider)
    let tokens = 500 + (await counter.count(request))
    for (const { text } of results) tokens += await counter.count(text)
    // A quarter is reserved for the answer; message separators take few tokens.
    expect(tokens).toBeLessThanOrEqual(contextWindow * 0.75 + 24 * 6)
    expect(results.every(({ omission }) => omission !== null)).toBe(true)
  },
)

test('a request that leaves no room shows nothing of a result', async () => {
  const budget = createResultBudget({ contextWindow: 1_000, provider: 'OpenAI' })
  budget.reserve(WORDS.repeat(100))
  expect((await budget.fit(HUGE)).text).toBe('')
})

test('a window of a million tokens still takes no more than 100,000 characters of one result', async () => {
  const budget = createResultBudget({ contextWindow: 1_000_000, provider: 'Anthropic' })
  const { text, omission } = await budget.fit(HUGE)
  expect(text).toHaveLength(100_000)
  expect(omission).toContain('of 200,000 characters')
})
