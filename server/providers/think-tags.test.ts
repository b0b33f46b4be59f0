import { expect, test } from 'vitest'
import { createThinkSplitter, withoutThoughts } from './think-tags.ts'

const CASES = [
  ['<think>\nRent is meant.\n</think>\n\nIt is 900.', '\nRent is meant.\n', 'It is 900.'],
  [' \n<think></think>It is 900.', '', 'It is 900.'],
  ['<think>never ended </thin', 'never ended </thin', ''],
  ['<thin ice> is what it says', '', '<thin ice> is what it says'],
  ['Write `<think>` first, `</think>` last.', '', 'Write `<think>` first, `</think>` last.'],
  ['<think>a</think><think>b</think>', 'a', '<think>b</think>'],
  ['<thi', '', '<thi'],
] as const

test.for(CASES)('splits %j for every chunking', ([answer, reasoning, text]) => {
  for (let size = 1; size <= answer.length; size += 1) {
    const splitter = createThinkSplitter()
    const said = { reasoning: '', text: '' }
    const take = (part: { reasoning: string; text: string }) => {
      said.reasoning += part.reasoning
      said.text += part.text
    }
    for (let from = 0; from < answer.length; from += size) take(splitter.push(answer.slice(from, from + size)))
    take(splitter.end())
    expect(said).toEqual({ reasoning, text })
  }
  expect(withoutThoughts(answer)).toBe(text)
})
