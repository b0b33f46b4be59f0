import fc from 'fast-check'
import { expect, test } from 'vitest'
import { htmlToText } from './html-text.ts'

const LONG =
  'The notice period is three months to the end of a quarter, unless both sides agree on another one. '.repeat(3)

test('reads title, headings, paragraphs, lists and tables', () => {
  const { title, text } =
    htmlToText(`<!doctype html><html><head><title>Rent &amp; notice</title><style>p{}</style></head>
    <body><h1>Notice</h1><p>Three&nbsp;months, <b>no</b> less.</p><ul><li>one<li>two</ul>
    <table><tr><th>Year</th><th>Rent</th></tr><tr><td>2024</td><td>&euro;&#49;0</td></tr></table>
    <pre>a\n  b</pre></body></html>`)
  expect(title).toBe('Rent & notice')
  expect(text.split('\n').filter((line) => line !== '')).toEqual([
    'Notice', 'Three months, no less.', '- one', '- two', 'Year | Rent', '2024 | €10', 'a', '  b',
  ]) // prettier-ignore
})

test('leaves out scripts, comments and what surrounds the body of a page', () => {
  const { text } = htmlToText(`<nav>menu</nav><header>logo</header><script>if (a < b) "<p>no</p>"</script>
    <!-- hidden <p>no</p> --><main><p>${LONG}</p><aside>advertisement</aside><noscript>off</noscript></main><footer>imprint</footer>`)
  expect(text).toBe(LONG.trim())
})

test('falls back to everything where the marked body is next to nothing, or an element is never closed', () => {
  expect(htmlToText(`<main>Loading</main><div>${LONG}</div>`).text).toContain(LONG.trim())
  expect(htmlToText(`<nav><p>${LONG}</p>`).text).toBe(LONG.trim())
  expect(htmlToText('<p>short').text).toBe('short')
})

test('shows signs that are no markup, and entities as their characters once', () => {
  expect(htmlToText('<p>1 < 2 & 3 > 2 &amp;lt; &#x41;&#0;&unknown; &eacute;&Eacute;</p>').text).toBe(
    '1 < 2 & 3 > 2 &lt; A\ufffd&unknown; éÉ',
  )
})

test('an attribute may hold the sign that ends a tag', () => {
  expect(htmlToText('<p title="a > b">shown</p>').text).toBe('shown')
})

test('an empty script element of XHTML does not swallow the page', () => {
  expect(htmlToText('<script src="a.js"/><p>shown</p>', { isXml: true }).text).toBe('shown')
})

test('gives no script of a page, whatever is left open before it', () => {
  const pieces = fc.constantFrom('<p>', '</p>', '<', '>', '"', '=', '&', '&#', ';', '<!--', '-->', '<script>', '</script>',
    '1', '<main>', '</main>', '<nav>', ' ', '\n', '<td>', '</td>') // prettier-ignore
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 40 }), (given) => {
      expect(htmlToText(`${given.join('')}<script>secret`).text).not.toContain('secret')
    }),
  )
})

test.for(['<td></td>', '<b>', '<a ="', '<!--', '<', '&#', '</p', '<p>  ', '\u00a0 ', '<script>'])(
  'a megabyte of %j is read in one pass',
  (piece) => {
    expect(htmlToText(piece.repeat(1_000_000 / piece.length)).text.length).toBeLessThanOrEqual(1_000_000)
  },
)
