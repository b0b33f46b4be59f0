import { renderToStaticMarkup } from 'react-dom/server'
import { describe, expect, it } from 'vitest'
import type { Source } from '#contract/source.ts'
import { AnswerContext, type Answer } from './answer-context.tsx'
import { AnswerText } from './answer-text.tsx'

const source: Source = {
  n: 1,
  documentId: '7f1e0d7a-93f9-4cbb-9c0e-0d3c1a8b2c02',
  filename: 'Bees.pdf',
  page: 3,
  start: 0,
  end: 4,
  text: 'Bees',
  score: 1,
}
const answer: Answer = {
  sources: new Map([[1, source]]),
  numbers: new Set([1]),
  pointedAt: null,
  pointAt: () => undefined,
  open: () => undefined,
}
const render = (text: string): string =>
  renderToStaticMarkup(
    <AnswerContext value={answer}>
      <AnswerText text={text} writing={false} marginNotes={false} />
    </AnswerContext>,
  )

describe('hostile text in an answer', () => {
  it('shows raw HTML as the text that it is', () => {
    const html = render('<img src=x onerror=alert(1)>\n\nA <script>alert(1)</script> b')
    expect(html).not.toMatch(/<img|<script/)
    expect(html).toContain('&lt;script&gt;')
  })

  it('makes no link of an address that a page may not open', () => {
    for (const href of ['javascript:alert(1)', 'data:text/html,x', 'java&#115;cript:alert(1)', '//evil.example']) {
      expect(render(`[click](${href})`)).not.toContain('<a')
    }
  })

  it('loads no image and offers its address instead', () => {
    const html = render('![chart](https://evil.example/x.png?who=me)')
    expect(html).not.toContain('<img')
    expect(html).toContain(
      '<a href="https://evil.example/x.png?who=me" target="_blank" rel="noopener noreferrer">chart</a>',
    )
  })
})

it('sets markers of known sources as buttons and leaves other brackets alone', () => {
  const html = render('Bees dance [1], see [2] and `a[1]`.')
  expect(html.match(/data-citation="1"/g)).toHaveLength(1)
  expect(html).toContain('aria-label="Source 1: Bees.pdf page 3"')
  expect(html).toContain('see [2] and')
  expect(html).toContain('a[1]</code>')
})

it('draws every kind of block', () => {
  const html = render(
    '# One\n\n- a\n- [x] b\n\n3. c\n\n> d\n\n| e | f |\n|---|--:|\n| g | h |\n\n```ts\nlet i\n```\n\n---\n\n**j** *k* ~~l~~ m &amp; n',
  )
  for (const part of [
    '<h2>One</h2>',
    '<ul>',
    'type="checkbox"',
    '<ol start="3">',
    '<blockquote>',
    '<th',
    '<hr/>',
    '<del>',
  ]) {
    expect(html).toContain(part)
  }
  expect(html).toContain('let i')
  expect(html).toContain('m &amp; n')
})
