import { expect, it } from 'vitest'
import { settledMarkdown } from './settled-markdown.ts'

const ANSWER = `## How it fits together

The **first part** keeps \`inline code\` and a [link](https://example.test/1), as said [1]. 3 * 4 is *twelve*.

- One
- **Two** [2]
  1. Nested

| Step | Cost |
| --- | ---: |
| read | 3 |

\`\`\`ts
const value = "**" // not bold
\`\`\`

> A remark
***
The end`

it.each([
  ['Words\n##', 'Words\n'],
  ['Words\n-', 'Words\n'],
  ['Words\n2.', 'Words\n'],
  ['Some **bold wor', 'Some '],
  ['Some `code', 'Some '],
  ['See [the page](https://exa', 'See '],
  ['As said [1', 'As said '],
  ['Words\n\n| Step | Cost |\n| --', 'Words\n\n'],
  ['Words\n\n```ts\nlet a\n``', 'Words\n\n```ts\nlet a\n'],
])('holds back what is not finished: %j', (text, settled) => {
  expect(settledMarkdown(text)).toBe(settled)
})

it.each(['Some **bold** words', 'A `b` and [c](https://d.test) e', '| a | b |\n| - | - |\n| 1', '```ts\nlet a = "**'])(
  'keeps what is: %j',
  (text) => {
    expect(settledMarkdown(text)).toBe(text)
  },
)

it('shows a mark that is never closed after a while', () => {
  const text = `2 ** ${'n '.repeat(60)}`
  expect(settledMarkdown(text)).toBe(text)
})

it('only ever grows with the text, and is its beginning', () => {
  let before = ''
  for (let length = 0; length <= ANSWER.length; length += 1) {
    const settled = settledMarkdown(ANSWER.slice(0, length))
    expect(settled.startsWith(before)).toBe(true)
    expect(ANSWER.startsWith(settled)).toBe(true)
    before = settled
  }
  expect(before).toBe(ANSWER)
})
