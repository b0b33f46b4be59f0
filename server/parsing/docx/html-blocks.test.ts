import { expect, test } from 'vitest'
import { findHtmlBlocks } from './html-blocks.ts'

test('a bookmark inside a link leaves the link its address', () => {
  const html = '<p>See <a href="https://example.org/terms">the <a id="terms"></a>terms</a> today.</p>'
  expect(findHtmlBlocks(html)[0]?.text).toBe('See the terms (https://example.org/terms) today.')
})

test('arrows are part of the text, except those that lead back from a note or to the top', () => {
  const html =
    '<p>CRP ↑, Hb ↓ <strong>↑</strong> <a href="https://example.org/up">↑</a> <a href="#top">see ↑</a> <a href="#top">↑</a></p>' +
    '<ol><li id="footnote-1"><p>Since May. <a href="#footnote-ref-1">↑</a></p></li></ol>'
  expect(findHtmlBlocks(html).map(({ text }) => text)).toEqual([
    'CRP ↑, Hb ↓ ↑ ↑ (https://example.org/up) see ↑',
    '[1] Since May.',
  ])
})
