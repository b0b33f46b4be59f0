import { describe, expect, it } from 'vitest'
import { updateMarkdown, decodeEntities, emptyMarkdown, finishMarkdown, lexMarkdown, safeHref } from './markdown.ts'

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
  it('yields the blocks of the whole text, wherever it is cut', () => {
    for (const step of [1, 3, 7, 40]) {
      let state = emptyMarkdown
      for (let end = step; end < TEXT.length + step; end += step) state = updateMarkdown(state, TEXT.slice(0, end))
      const blocks = [...state.closed, ...state.tail].filter((token) => token.type !== 'space')
      expect(blocks.map(({ type, raw }) => [type, raw.trim()])).toEqual(
        lexMarkdown(TEXT).map(({ type, raw }) => [type, raw.trim()]),
      )
    }
  })

  it('keeps the identity of closed blocks', () => {
    const before = updateMarkdown(emptyMarkdown, 'One.\n\nTwo.\n\nThr')
    const after = updateMarkdown(before, 'One.\n\nTwo.\n\nThree.\n\nFour')
    expect(before.closed).toHaveLength(2)
    expect(after.closed[0]).toBe(before.closed[0])
    expect(after.closed[1]).toBe(before.closed[1])
  })

  it('starts over for a different text', () => {
    const before = updateMarkdown(emptyMarkdown, 'One.\n\nTwo.\n\nThree')
    expect(updateMarkdown(before, 'Other').closed).toEqual([])
  })

  it('counts every line end as one character', () => {
    const text = TEXT.replaceAll('\n', '\r\n')
    let state = emptyMarkdown
    for (let end = 1; end <= text.length; end += 1) state = updateMarkdown(state, text.slice(0, end))
    expect([...state.closed, ...state.tail].map(({ type }) => type)).toEqual(lexMarkdown(TEXT).map(({ type }) => type))
  })

  it('keeps the items of a growing list', () => {
    const before = updateMarkdown(emptyMarkdown, '- one\n- two\n- th')
    const after = updateMarkdown(before, '- one\n- two\n- three\n- fo')
    const items = (state: typeof before): unknown[] => (state.tail[0] as { items: unknown[] }).items
    expect(items(after)[0]).toBe(items(before)[0])
    expect(items(after)[1]).toBe(items(before)[1])
    expect(items(after)[2]).not.toBe(items(before)[2])
  })

  it('keeps known blocks at the end, and resolves reference links', () => {
    const written = updateMarkdown(emptyMarkdown, 'One.\n\nTwo.\n\nThr')
    const finished = finishMarkdown(written, 'One.\n\nTwo.\n\nThree.')
    expect(finished[0]).toBe(written.closed[0])
    expect(finished.map(({ raw }) => raw.trim())).toEqual(['One.', 'Two.', 'Three.'])
    const linked = 'See [here].\n\n[here]: https://example.test'
    expect(finishMarkdown(updateMarkdown(emptyMarkdown, linked), linked)).toEqual(lexMarkdown(linked))
  })

  it('leaves an unclosed code block open', () => {
    const state = updateMarkdown(emptyMarkdown, 'Look:\n\n```js\nlet a\n\nlet b')
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

  it('accepts web and mail addresses', () => {
    expect(safeHref('https://example.org/a?b=1&amp;c=2')).toBe('https://example.org/a?b=1&c=2')
    expect(safeHref('mailto:a@example.org')).toBe('mailto:a@example.org')
  })
})

it('decodes entities and leaves unknown ones', () => {
  expect(decodeEntities('a &lt; b &amp;&amp; c &#8212; &#x2014; &unknown;')).toBe('a < b && c — — &unknown;')
})

describe('Chinese, Japanese and Korean', () => {
  const strong = (text: string) => {
    const [block] = lexMarkdown(text)
    return block?.type === 'paragraph'
      ? block.tokens?.filter(({ type }) => type === 'strong').map(({ raw }) => raw)
      : []
  }

  it.each([
    ['这个方法**“很重要”**，请注意。', ['**“很重要”**']],
    ['**注意：**请先备份。', ['**注意：**']],
    ['这是**重点**内容。', ['**重点**']],
    ['请看（**附件**）后回复。', ['**附件**']],
    ['**（一）**第一章和**（二）**第二章', ['**（一）**', '**（二）**']],
    ['これは**「重要」**です。', ['**「重要」**']],
    ['**「注意」**してください。', ['**「注意」**']],
    ['이것은 **‘중요’**하다.', ['**‘중요’**']],
    ['共**50%**的人', ['**50%**']],
    ['**注意：**𠮷野家', ['**注意：**']],
    ['2 ** 3 和 4 ** 5', []],
  ])('%s', (text, marked) => expect(strong(text)).toEqual(marked))

  it.each([
    ['请看 https://example.com/path。后面的文字。', 'https://example.com/path'],
    ['（https://example.com/a）和别的', 'https://example.com/a'],
    ['参照：https://example.com/b?x=1、次へ', 'https://example.com/b?x=1'],
    ['见https://zh.example.org/wiki/中文，谢谢', 'https://zh.example.org/wiki/中文'],
    ['“https://example.com/c”', 'https://example.com/c'],
  ])('an address ends before the punctuation: %s', (text, address) => {
    const [block] = lexMarkdown(text)
    const links = block?.type === 'paragraph' ? block.tokens?.filter(({ type }) => type === 'link') : []
    expect(links?.map(({ raw }) => raw)).toEqual([address])
  })
})
