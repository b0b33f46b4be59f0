import { expect, test } from 'vitest'
import { endSentence } from './end-sentence.ts'

test.each([
  ['out of memory', 'out of memory.'],
  ['out of memory\n', 'out of memory.'],
  ['The model failed (exit 1)', 'The model failed (exit 1).'],
  ['no model "nomic"', 'no model "nomic".'],
  ['version 1.5', 'version 1.5.'],
])('ends "%s" with a full stop', (message, sentence) => {
  expect(endSentence(message)).toBe(sentence)
})

test.each(['It is asleep.', 'Is it there?', 'It said "wait."', '(It is loading …)', 'Loading…', '模型不存在。'])(
  'leaves "%s" as it is',
  (message) => {
    expect(endSentence(message)).toBe(message)
  },
)
