import { renderToStaticMarkup } from 'react-dom/server'
import { describe, expect, it } from 'vitest'
import type { Source } from '#contract/source.ts'
import { AnswerContext, type Answer } from '#web/features/thread/context/answer-context.tsx'
import { withSources, writtenByPerson } from '#web/lib/messages/known-addresses.ts'
import { TooltipProvider } from '#web/ui/tooltip.tsx'
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
const answer: Omit<Answer, 'misquotes' | 'unverified' | 'addresses'> = {
  sources: new Map<number, Source>([
    [1, source],
    [3, { n: 3, address: 'https://news.example/?id=7', title: 'News', text: 'Today' }],
  ]),
  numbers: new Set([1, 3]),
  pointedAt: null,
  pointAt: () => undefined,
  openNumber: null,
  open: () => undefined,
}
function render(
  text: string,
  misquotes: string[] = [],
  question = '',
  writing = false,
  unverified: Answer['unverified'] = [],
): string {
  const addresses = withSources(writtenByPerson(question), answer.sources.values())
  return renderToStaticMarkup(
    <TooltipProvider>
      <AnswerContext value={{ ...answer, addresses, misquotes, unverified }}>
        <AnswerText text={text} writing={writing} marginNotes={false} />
      </AnswerContext>
    </TooltipProvider>,
  )
}

describe('hostile text in an answer', () => {
  it('shows raw HTML as the text that it is', () => {
    const html = render('<img src=x onerror=alert(1)>\n\nA <script>alert(1)</script> b')
    expect(html).not.toMatch(/<img|<script/)
    expect(html).toContain('&lt;script&gt;')
  })

  it('sets quotes and lists by the direction of their words', () => {
    const html = render('> على سبيل المثال، يمكن استخدام pandas\n\n- שלום\n\nA word')
    expect(html).toContain('<blockquote dir="rtl">')
    expect(html).toContain('<ul dir="rtl">')
    expect(html).toContain('<p dir="auto">A word</p>')
  })

  it('lays a table out in the direction of its words', () => {
    expect(render('| الاسم | kg |\n| --- | --- |\n| تفاح | 3 |')).toMatch(
      /<div [^>]*dir="rtl"[^>]*><div [^>]*aria-label="Table"/,
    )
    expect(render('| 2024 | Name |\n| --- | --- |\n| تفاح | 3 |')).not.toContain('dir="rtl"')
  })

  it('makes no link of an address that a page may not open', () => {
    for (const href of ['javascript:alert(1)', 'data:text/html,x', 'java&#115;cript:alert(1)', '//evil.example']) {
      expect(render(`[click](${href})`)).not.toContain('<a')
    }
  })

  it('loads no image and offers its address instead', () => {
    const html = render('![chart](https://pictures.example/x.png)', [], 'From https://pictures.example/')
    expect(html).not.toContain('<img')
    expect(html).toContain(
      '<a href="https://pictures.example/x.png" target="_blank" rel="noopener noreferrer">chart</a>',
    )
  })

  it.each([
    ['[chart](https://evil.example/secret)', 'chart (https://evil.example/secret)'],
    ['![chart](https://secret.evil.example/x.png)', 'chart (https://secret.evil.example/x.png)'],
    ['[chart](https://evil.example/#secret "a title")', 'chart (https://evil.example/#secret)'],
    ['[chart](https://evil.example/?who=me)', 'chart (https://evil.example/?who=me)'],
    ['[chart][1]\n\n[1]: https://evil.example/secret', 'chart (https://evil.example/secret)'],
    ['<https://evil.example/secret>', 'https://evil.example/secret'],
    ['See https://evil.example/secret', 'See https://evil.example/secret'],
    ['See www.evil.example/secret', 'See http://www.evil.example/secret'],
    ['Ask secret@evil.example', 'Ask mailto:secret@evil.example'],
    ['[chart](mailto:a@evil.example?body=secret)', 'chart (mailto:a@evil.example?body=secret)'],
    ['[chart](https://asked.example@evil.example/secret)', 'chart (https://asked.example@evil.example/secret)'],
    ['[chart](https:\\\\evil.example/secret)', 'chart (https://evil.example/secret)'],
    ['[chart](https://secret.asked.example/)', 'chart (https://secret.asked.example/)'],
    ['[chart](https://asked.example./secret)', 'chart (https://asked.example./secret)'],
    ['[chart](https://аsked.example/)', 'chart (https://xn--sked-43d.example/)'],
    ['[https://asked.example/](https://evil.example/secret)', 'https://asked.example/ (https://evil.example/secret)'],
    ['[other.example](https://asked.example/)', 'other.example (https://asked.example/)'],
    ['[**other.example**](https://asked.example/)', 'other.example (https://asked.example/)'],
    ['[**other**.example](https://asked.example/)', 'other.example (https://asked.example/)'],
    ['[`other.example`](https://asked.example/)', 'other.example (https://asked.example/)'],
    ['[Sign in at other.example](https://asked.example/)', 'Sign in at other.example (https://asked.example/)'],
    ['![other.example](https://asked.example/)', 'other.example (https://asked.example/)'],
    ['[news](https://news.example/secret)', 'news (https://news.example/secret)'],
    ['| a |\n|---|\n| [chart](https://evil.example/secret) |', 'chart (https://evil.example/secret)'],
    ['> - **[chart](https://evil.example/secret)**', 'chart (https://evil.example/secret)'],
    ['# [chart](https://evil.example/secret)', 'chart (https://evil.example/secret)'],
  ])('shows %s as text', (text, shown) => {
    for (const writing of [false, true]) {
      const html = render(text, [], 'Look at https://asked.example/page', writing)
      expect(html).not.toMatch(/<a |<img/)
      // A reference is resolved at the end.
      if (!writing || !text.includes('[1]:'))
        expect(html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/ +/g, '')).toContain(shown.replaceAll(' ', ''))
    }
  })

  it('sets the host of such an address apart', () => {
    for (const [address, host] of [
      ['https://evil.example/secret', 'evil.example'],
      ['https://asked.example@evil.example/asked.example', 'evil.example'],
      ['https://evil.example@evil.example:8080/', 'evil.example:8080'],
      ['mailto:a@evil.example?body=secret', 'evil.example'],
    ])
      expect(render(`[x](${address})`), address).toMatch(new RegExp(`<b[^>]*>${host}</b>`))
  })

  it('links hosts that the person wrote, in whatever form the link has', () => {
    for (const text of [
      '[a](https://asked.example/other)',
      '[asked.example](https://asked.example/other)',
      'See https://asked.example/other',
      '<https://asked.example/other>',
      '[a][1]\n\n[1]: https://asked.example/other',
    ])
      expect(render(text, [], 'Look at https://asked.example/page'), text).toContain(
        'href="https://asked.example/other" target="_blank" rel="noopener noreferrer"',
      )
  })

  it('links a mailbox that the person wrote', () => {
    expect(render('Ask rent@mail.example', [], 'Who is rent@mail.example?')).toContain(
      'href="mailto:rent@mail.example"',
    )
  })

  it('links a page of the web that is a source, whatever its address', () => {
    expect(render('See [the page](https://news.example/?id=7).')).toContain('href="https://news.example/?id=7"')
  })
})

it('sets markers of known sources as buttons and leaves other brackets alone', () => {
  const html = render('Bees dance [1], see [2] and `a[1]`.')
  expect(html.match(/data-citation="1"/g)).toHaveLength(1)
  expect(html).toContain('aria-label="Source 1: Bees.pdf page 3"')
  expect(html).toContain('see [2] and')
  expect(html).toContain('a[1]</code>')
})

it('sets the marker of a page of the web as a link that tells the page nothing', () => {
  expect(render('As they say [3].')).toContain(
    'href="https://news.example/?id=7" target="_blank" rel="noopener noreferrer" aria-label="Source 3: News">3</a>',
  )
})

it('marks quotations that their source does not hold, in a sentence and as a block', () => {
  const html = render('It says "bees sing" [1], and "bees" [1].\n\n> Bees sing.\n> Loudly. [1]', [
    'bees sing',
    'Bees sing. Loudly. [1]',
  ])
  expect(html.match(/data-misquote/g)).toHaveLength(1)
  expect(html).toMatch(/data-misquote[^>]*>bees sing</)
  expect(html).toMatch(/<p[^>]*>Not found word for word in the source<\/p><\/blockquote>/)
})

describe('claims that their passages do not hold', () => {
  const claimsOf = (text: string, ...claims: string[]) =>
    claims.map((claim) => ({ start: text.lastIndexOf(claim), text: claim }))
  const marked = (text: string, ...claims: string[]) =>
    [...render(text, [], '', false, claimsOf(text, ...claims)).matchAll(/data-unverified[^>]*>(.*?)<span/g)].map(
      ([, words]) => words,
    )

  it.each([
    ['It takes 5 days, or 5 days [1].', ['5 days']],
    ['It takes **5 days** and 5 days [1].', ['5 days']],
    ['- one\n- takes\n  6 days [1]\n\n> in\n> 7 years [1]', ['6 days', '7 years']],
    ['| a | 5 |\n| --- | --- |\n| b | 5 [1] |', ['5']],
    ['Costs &amp; fees of 5 € &lt; 6 € [1].', ['5 €', '6 €']],
    ['See `5 km` and [5 km](https://news.example/5), then 5 km [1].', ['5 km']],
    ['# In 2023\n\nSince 2023 [1].', ['2023']],
  ])('are marked where they stand in %j', (text, claims) => {
    expect(marked(text, ...claims)).toEqual(claims)
    const html = render(text, [], '', false, claimsOf(text, ...claims))
    for (const claim of claims) expect(html.indexOf('data-unverified')).toBeGreaterThan(html.indexOf(claim) === html.lastIndexOf(claim) ? -1 : html.indexOf(claim)) // prettier-ignore
    expect(html).toContain('(Not in the cited passage)')
  })

  it('are marked in every part that emphasis divides them into', () => {
    expect(marked('It takes **5** days [1].', '5** days')).toEqual(['5', ' days'])
  })

  it('are left out where the text differs, and inside a misquotation', () => {
    expect(render('It takes 6 days [1].', [], '', false, [{ start: 9, text: '5 days' }])).not.toContain(
      'data-unverified',
    )
    const text = 'It says "5 days" [1].'
    expect(render(text, ['5 days'], '', false, claimsOf(text, '5 days'))).not.toContain('data-unverified')
  })
})

it('draws every kind of block', () => {
  const html = render(
    '# One\n\n- a\n- [x] b\n\n3. c\n\n> d\n\n| e | f |\n|---|--:|\n| g | h |\n\n```ts\nlet i\n```\n\n---\n\n**j** *k* ~~l~~ m &amp; n',
  )
  for (const part of [
    '<h2 dir="auto">One</h2>',
    '<ul dir="ltr">',
    'type="checkbox"',
    '<ol dir="ltr" start="3">',
    '<blockquote dir="ltr">',
    '<th',
    '<hr/>',
    '<del>',
  ]) {
    expect(html).toContain(part)
  }
  expect(html).toContain('let i')
  expect(html).toContain('m &amp; n')
})
