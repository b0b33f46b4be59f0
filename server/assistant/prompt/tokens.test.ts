import { expect, test } from 'vitest'
import { loadCounter, tokenMargin, maxTokens } from './tokens.ts'

test('counts as o200k does, with a margin for other model families', async () => {
  const [own, claude] = await Promise.all([loadCounter('OpenAI'), loadCounter('Anthropic')])
  const text = 'The quick brown fox jumps over the lazy dog. '.repeat(40)
  const tokens = (await own.count(text)) - 6
  expect(tokens).toBe(401)
  expect(await claude.count(text)).toBe(Math.ceil(tokens * tokenMargin('Anthropic')) + 6)
})

test('never finds more tokens than bytes', async () => {
  const counter = await loadCounter('OpenAI')
  for (const text of ['', 'a', '日本語の文章', '👩‍👩‍👧‍👦', '<|endoftext|>', 'x'.repeat(5_000)])
    expect(await counter.count(text)).toBeLessThanOrEqual(maxTokens(text))
})

test('cuts a text to the limit, never inside a character', async () => {
  const counter = await loadCounter('OpenAI')
  const text = 'Blätter 👋 '.repeat(2_000)
  const clipped = await counter.clip(text, 500)
  expect(text.startsWith(clipped.replace(/\ufffd$/, ''))).toBe(true)
  expect(await counter.count(clipped)).toBeLessThanOrEqual(500)
  expect(await counter.count(clipped)).toBeGreaterThan(450)
  expect(await counter.clip('short', 500)).toBe('short')
})

test('counts a text without spaces in time', { timeout: 5_000 }, async () => {
  const counter = await loadCounter('OpenAI')
  expect(await counter.count('a'.repeat(300_000))).toBeGreaterThan(10_000)
})
