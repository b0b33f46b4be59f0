import { expect, it } from 'vitest'
import { updateMarkdown, emptyMarkdown } from './markdown.ts'
import { stableMarkdown } from './stable-markdown.ts'

const ANSWER = `## How it fits together

The **first part** keeps \`inline code\`, ~~no~~ and a [link](https://example.test/1), as said [1]. 3 * 4 is *twelve*,
and **a long one
over two lines with _slant_ in it**; \`\`two \` ticks\`\`, snake_case_name and $a_1 * b_2$ for $5.

- One
- **Two** [2]
  1. Nested

| Step | Cost |
| --- | ---: |
| **read** | 3 |

\`\`\`ts
const value = "**" // not bold
\`\`\`

$$
- a_1 + b_2
$$

> A remark
***
The end`

it.each([
  ['Words\n##', 'Words\n'],
  ['Words\n-', 'Words\n'],
  ['Words\n--', 'Words\n'],
  ['Words\n2.', 'Words\n'],
  ['Words\n$', 'Words\n'],
  ['See [the page](https://exa', 'See '],
  ['As said [1', 'As said '],
  ['Some **', 'Some '],
  ['Some *', 'Some '],
  ['Some `', 'Some '],
  ['Words\n\n| Step | Cost |\n| --', 'Words\n\n'],
  ['Words\n\n```ts\nlet a\n``', 'Words\n\n```ts\nlet a\n'],
])('holds back what could become something else: %j', (text, stable) => {
  expect(stableMarkdown(text)).toEqual({ stable, closing: '', plain: '' })
})

it.each([
  ['Some **bold wor', 'Some **bold wor', '**'],
  ['Some **bold ', 'Some **bold', '**'],
  ['Some **bold*', 'Some **bold', '**'],
  ['Some *slanted', 'Some *slanted', '*'],
  ['Some ~~gone', 'Some ~~gone', '~~'],
  ['Some `code', 'Some `code', '`'],
  ['Some ``co`de`', 'Some ``co`de', '``'],
  ['Some **bold with `code', 'Some **bold with `code', '`**'],
  ['- One\n- **Tw', '- One\n- **Tw', '**'],
  ['Some **bold\nover', 'Some **bold\nover', '**'],
  ['| a | b |\n| - | - |\n| **c', '| a | b |\n| - | - |\n| **c', '**'],
])('closes what is open: %j', (text, stable, closing) => {
  expect(stableMarkdown(text)).toEqual({ stable, closing, plain: '' })
})

it.each([
  'Some **bold** words',
  'A `b` and [c](https://d.test) e',
  '| a | b |\n| - | - |\n| 1',
  '```ts\nlet a = "**',
  '3 * 4 and a_b',
  'Costs $5 and',
])('keeps the rest as it is: %j', (text) => {
  expect(stableMarkdown(text)).toEqual({ stable: text, closing: '', plain: '' })
})

it('shows an unclosed formula as plain text', () => {
  expect(stableMarkdown('Look:\n$$\n- a')).toEqual({ stable: 'Look:\n', closing: '', plain: '$$\n- a' })
})

it('shows an unclosed bracket after a limit', () => {
  const text = `2 [${'n '.repeat(60)}and`
  expect(stableMarkdown(text).stable).toBe(text)
})

it('is a prefix of the text and never shrinks', () => {
  let before = ''
  for (let length = 0; length <= ANSWER.length; length += 1) {
    const { stable, plain } = stableMarkdown(ANSWER.slice(0, length))
    const shown = stable + plain
    expect(shown.slice(0, before.length)).toBe(before)
    expect(ANSWER.startsWith(shown)).toBe(true)
    before = shown
  }
  expect(before).toBe(ANSWER)
})

/** The words of blocks as they are read; code and formulas may hold any mark. */
function words(value: unknown): string {
  if (Array.isArray(value)) return value.map(words).join(' ')
  if (typeof value !== 'object' || value === null || !('type' in value || 'tokens' in value)) return ''
  const token = value as {
    type?: string
    raw?: string
    tokens?: unknown
    items?: unknown
    header?: unknown
    rows?: unknown
  }
  if (token.type !== undefined && ['code', 'codespan', 'maths'].includes(token.type)) return ''
  const parts = [token.tokens, token.items, token.header, token.rows].filter((part) => Array.isArray(part))
  return parts.length === 0 ? (token.raw ?? '') : words(parts)
}

it('never shows raw markup, and never changes the kind of a block', () => {
  let state = emptyMarkdown
  let kinds: string[] = []
  for (let length = 1; length <= ANSWER.length; length += 1) {
    state = updateMarkdown(state, ANSWER.slice(0, length))
    const shown = [...state.closed, ...state.tail]
    const formula = shown.findIndex(({ raw }) => raw.startsWith('$$'))
    expect(words(formula === -1 ? shown : shown.slice(0, formula))).not.toMatch(/\*\*|`|~~|\]\(|\|/)
    const now = shown.map(({ type, raw }) => (raw.startsWith('$$') ? 'formula' : type))
    expect(now.slice(0, kinds.length)).toEqual(kinds)
    kinds = now
  }
})
