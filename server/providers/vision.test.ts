import { expect, test } from 'vitest'
import { pictureTokens, isVisionModelName } from './vision.ts'

test.each([
  // The figures of the providers' own tables.
  ['Anthropic', 'claude-3-7-sonnet-20250219', 1_092, 1_092, 1_590],
  ['Anthropic', 'claude-sonnet-5-5', 1_024, 1_024, 1_399],
  ['OpenAI', 'gpt-4o', 1_024, 1_024, 85 + 4 * 170],
  ['OpenAI', 'gpt-4o', 2_048, 4_096, 85 + 6 * 170],
  ['OpenAI', 'gpt-4o-mini', 512, 512, 2_833 + 5_667],
  ['OpenAI', 'gpt-6-astra', 1_024, 1_024, 1_229],
  ['OpenAI', 'gpt-6-astra', 256, 256, 77],
  ['OpenAI-compatible', 'qwen2.5-vl', 28, 29, 2],
])('%s: %s counts %i x %i pixels as %i tokens', (provider, identifier, width, height, tokens) => {
  expect(pictureTokens(provider, identifier, { width, height })).toBe(tokens)
})

test.each([
  ['gpt-4o-mini', true],
  ['claude-sonnet-4-5', true],
  ['qwen2.5-vl-7b', true],
  ['Qwen/Qwen3-VL', true],
  ['llava:13b', true],
  ['llama3.1:8b', false],
  ['gpt-4', false],
  ['vlad-7b', false],
])('by its name %s sees: %s', (identifier, sees) => {
  expect(isVisionModelName(identifier)).toBe(sees)
})
