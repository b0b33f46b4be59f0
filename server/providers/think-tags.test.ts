import { expect, test } from 'vitest'
import { createThinkSplitter, type SplitText, withoutThoughts } from './think-tags.ts'

const CASES = [
  ['<think>\nRent is meant.\n</think>\n\nIt is 900.', '\nRent is meant.\n', 'It is 900.'],
  [' \n<think></think>It is 900.', '', 'It is 900.'],
  ['<think>never ended </thin', 'never ended </thin', ''],
  ['<thin ice> is what it says', '', '<thin ice> is what it says'],
  ['Write `<think>` first, `</think>` last.', '', 'Write `<think>` first, `</think>` last.'],
  ['<think>a</think><think>b</think>', 'a', '<think>b</think>'],
  ['<thi', '', '<thi'],
  ['<thinking>a</thinking>\nb', 'a', 'b'],
  ['<Thought>a</thought>b', 'a', 'b'],
  ['<reasoning>\na\n</reasoning>\n\nb', '\na\n', 'b'],
  ['<seed:think>a</seed:think>b', 'a', 'b'],
  ['[THINK]a [1] b[/THINK]c [1]', 'a [1] b', 'c [1]'],
  ['◁think▷a◁/think▷b', 'a', 'b'],
  ['<|channel>thought\na<channel|>b', '\na', 'b'],
  ['<|channel|>analysis<|message|>a < b<|end|><|start|>assistant<|channel|>final<|message|>c<|return|>', 'a < b', 'c'],
  ['<|start|>assistant<|channel|>final<|message|>c', '', 'c'],
  [
    '<|channel|>analysis<|message|>a<|end|><|channel|>commentary<|message|>b<|end|><|channel|>final<|message|>c',
    'a\n\nb',
    'c',
  ],
  ['<|channel|>analysis<|message|>never ended', 'never ended', ''],
  ['first I weigh both plans.\n</think>\n\nThe answer is 43.', 'first I weigh both plans.\n', 'The answer is 43.'],
  ['</think>\n\nThe answer is 43.', '', 'The answer is 43.'],
  ['a</thinking>b', 'a', 'b'],
  ['a [1] b[/THINK]c [1]', 'a [1] b', 'c [1]'],
  ['a<|end|><|start|>assistant<|channel|>final<|message|>b<|return|>', 'a', 'b'],
  ['a</think>b</think>c', 'a', 'b</think>c'],
  ['A tag such as <think> ends with </think> here.', '', 'A tag such as <think> ends with </think> here.'],
  ['```\n</think>\n```\nends it.', '', '```\n</think>\n```\nends it.'],
  ['<think>İstanbul İİ</think>Answer', 'İstanbul İİ', 'Answer'],
  ['İİ are two.</think>Answer', 'İİ are two.', 'Answer'],
  ['both plans. </think> The answer', 'both plans. ', 'The answer'],
  [
    'The template closes it with </think>. After it the answer follows.',
    '',
    'The template closes it with </think>. After it the answer follows.',
  ],
  ['<reasoning step="1">a</reasoning> is the shape', '', '<reasoning step="1">a</reasoning> is the shape'],
  ['An example:\n\n    a </thought> b\n\nEnd', '', 'An example:\n\n    a </thought> b\n\nEnd'],
  ['I could write `</think>` here.\n</think>\nAnswer', 'I could write `</think>` here.\n', 'Answer'],
  ['<|channel|>final<|message|>The token is <|end|> and more.', '', 'The token is  and more.'],
  ['plans</think>', 'plans', ''],
  ['1 < 2 and a[3] [4]', '', '1 < 2 and a[3] [4]'],
] as const

test.for(CASES)('splits %j for every chunking', ([answer, reasoning, text]) => {
  for (let size = 1; size <= answer.length; size += 1) {
    const splitter = createThinkSplitter()
    const said = { reasoning: '', text: '' }
    const take = (part: SplitText) => {
      if (part.isThought === true) Object.assign(said, { reasoning: said.text, text: '' })
      said.reasoning += part.reasoning
      said.text += part.text
    }
    for (let from = 0; from < answer.length; from += size) take(splitter.push(answer.slice(from, from + size)))
    take(splitter.end())
    expect(said).toEqual({ reasoning, text })
  }
  expect(withoutThoughts(answer)).toBe(text)
})
