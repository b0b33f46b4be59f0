import { expect, test } from 'vitest'
import { withFootnotes } from './markdown-copy.ts'

const source = (n: number) => ({
  n,
  documentId: '00000000-0000-4000-8000-000000000000',
  filename: `report-${n}.pdf`,
  page: n + 2,
  start: 0,
  end: 9,
  text: `passage\n  ${n}`,
  score: 1,
})

test('turns markers into ordered footnotes without repeats', () => {
  expect(withFootnotes('Two [2], one [1], two again [2].', [source(1), source(2), source(3)])).toBe(
    'Two[^2], one[^1], two again[^2].\n\n[^1]: report-1.pdf, p. 3: “passage 1”\n[^2]: report-2.pdf, p. 4: “passage 2”\n',
  )
})

test('names the section of a text, and only the file of an image', () => {
  const [text, picture] = [
    { ...source(1), filename: 'rules.docx' },
    { ...source(2), filename: 'photo.png' },
  ]
  expect(withFootnotes('Both [1] [2].', [text, picture])).toContain(
    '[^1]: rules.docx, section 3: “passage 1”\n[^2]: photo.png: “passage 2”',
  )
})

test('leaves code and numbers without a source alone', () => {
  const text = 'See `list [1]` and [9]:\n\n```js\nlist [1]\n```\n'
  expect(withFootnotes(text, [source(1)])).toBe(text)
})

test('images and HTML of an answer, a title or a passage load nothing', () => {
  const copied = withFootnotes('![](https://evil.test/a) <img src="https://evil.test/b"> [1]', [
    { ...source(1), text: '![](https://evil.test/c)' },
  ])
  expect(copied).toBe(
    '&#33;[](https://evil.test/a) &lt;img src="https://evil.test/b">[^1]\n\n[^1]: report-1.pdf, p. 3: “&#33;[](https://evil.test/c)”\n',
  )
})

test('leaves unclosed code alone', () => {
  expect(withFootnotes('A [1]\n```\nb [1]', [source(1)])).toMatch(/^A\[\^1\]\n```\nb \[1\]\n\n\[\^1\]/)
})

test('names conversation, speaker and day of a message source', () => {
  const said = {
    n: 1,
    messageId: '00000000-0000-4000-8000-000000000000',
    conversationId: '00000000-0000-4000-8000-000000000001',
    position: 7,
    title: 'About the lease',
    senderRole: 2 as const,
    createdAt: '2026-03-04T05:06:07Z',
    text: 'Three months.',
    score: 1,
  }
  expect(withFootnotes('It is [1].', [said])).toContain('[^1]: About the lease, an answer, 2026-03-04: “Three months.”')
})
