import { describe, expect, it } from 'vitest'
import { advanceMarkdown, decodeEntities, emptyMarkdown, lexMarkdown, safeHref } from './markdown.ts'

const TEXT = [
  '# Findings',
  '',
  'First paragraph with **bold** and [1].',
  '',
  '- one',
  '- two',
  '',
  '```ts',
  'const a = 1',
  '',
  'const b = 2',
  '```',
  '',
  '| a | b |',
  '|---|---|',
  '| 1 | 2 |',
  '',
  'The end.',
].join('\n')

describe('markdown as it is written', () => {
  it('ends with the same blocks as the whole text at once, however it is cut', () => {
    for (const step of [1, 3, 7, 40]) {
      let state = emptyMarkdown
      for (let end = step; end < TEXT.length + step; end += step) state = advanceMarkdown(state, TEXT.slice(0, end))
      const blocks = [...state.closed, ...state.tail].filter((token) => token.type !== 'space')
      expect(blocks.map(({ type, raw }) => [type, raw.trim()])).toEqual(
        lexMarkdown(TEXT).map(({ type, raw }) => [type, raw.trim()]),
      )
    }
  })

  it('keeps the identity of closed blocks', () => {
    const before = advanceMarkdown(emptyMarkdown, 'One.\n\nTwo.\n\nThr')
    const after = advanceMarkdown(before, 'One.\n\nTwo.\n\nThree.\n\nFour')
    expect(before.closed).toHaveLength(2)
    expect(after.closed[0]).toBe(before.closed[0])
    expect(after.closed[1]).toBe(before.closed[1])
  })

  it('begins anew when the text is another one', () => {
    const before = advanceMarkdown(emptyMarkdown, 'One.\n\nTwo.\n\nThree')
    expect(advanceMarkdown(before, 'Other').closed).toEqual([])
  })

  it('leaves an unclosed code block open', () => {
    const state = advanceMarkdown(emptyMarkdown, 'Look:\n\n```js\nlet a\n\nlet b')
    expect(state.closed.map((token) => token.type)).toEqual(['paragraph'])
    expect(state.tail.map((token) => token.type)).toEqual(['code'])
  })
})

describe('links', () => {
  it.each([
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'java&#115;cript:alert(1)',
    'data:text/html,x',
    'vbscript:x',
    '/relative',
    '',
  ])('refuses %s', (href) => expect(safeHref(href)).toBeNull())

  it('takes web and mail addresses', () => {
    expect(safeHref('https://example.org/a?b=1&amp;c=2')).toBe('https://example.org/a?b=1&c=2')
    expect(safeHref('mailto:a@example.org')).toBe('mailto:a@example.org')
  })
})

it('decodes entities and leaves unknown ones', () => {
  expect(decodeEntities('a &lt; b &amp;&amp; c &#8212; &#x2014; &unknown;')).toBe('a < b && c — — &unknown;')
})
