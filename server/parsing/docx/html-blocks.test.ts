import { expect, test } from 'vitest'
import { findHtmlBlocks } from './html-blocks.ts'

test('a bookmark inside a link leaves the link its address', () => {
  const html = '<p>See <a href="https://example.org/terms">the <a id="terms"></a>terms</a> today.</p>'
  expect(findHtmlBlocks(html)[0]?.text).toBe('See the terms (https://example.org/terms) today.')
})
