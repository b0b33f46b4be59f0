import { expect, test } from 'vitest'
import { groupSections } from './sections.ts'

const cut = (text: string) => groupSections([{ kind: 'paragraph', text }]).map((section) => section.text)

test('a long text is cut between its lines, never in a number', () => {
  const rows = Array.from({ length: 400 }, (_, row) => `Widget ${row},${row}497.00,994`)
  const sections = cut(rows.join('\n'))
  expect(sections.length).toBeGreaterThan(2)
  expect(sections.flatMap((section) => section.split('\n'))).toEqual(rows)
})

test.each([
  ['prose', 'It rained at 3.15 for days, and no one went out. ', /\.$/],
  ['Chinese', '外面下了很久的雨，所以没有人出门。', /。$/],
])('%s is cut behind a sentence', (_name, sentence, end) => {
  const sections = cut(sentence.repeat(300).trim())
  expect(sections.length).toBeGreaterThan(1)
  for (const section of sections) expect(section).toMatch(end)
})

test('the first row of a form names no columns, and is not repeated', () => {
  const values = Array.from({ length: 200 }, (_, row) => `${row}00 to ${row}50 | ${row} May 2008`)
  const rows = ['Pay from: 100 to 150 | Open until: 1 May 2008', ...values]
  const sections = groupSections([{ kind: 'table', text: rows.join('\n') }])
  expect(sections.length).toBeGreaterThan(1)
  expect(sections.flatMap(({ text }) => text.split('\n'))).toEqual(rows)
  expect(sections.flatMap(({ blocks = [] }) => blocks.map(({ headerEnd }) => headerEnd))).toEqual(
    sections.map(() => undefined),
  )
})

test('each piece of a long table begins with its column titles', () => {
  const rows = Array.from({ length: 200 }, (_, row) => `${row}00 to ${row}50 | ${row} May 2008`)
  const sections = groupSections([{ kind: 'table', text: ['Pay | Open until', ...rows].join('\n') }])
  expect(sections.length).toBeGreaterThan(1)
  const titles = sections.flatMap(({ text, blocks = [] }) => blocks.map(({ headerEnd }) => text.slice(0, headerEnd)))
  expect(titles).toEqual(sections.map(() => 'Pay | Open until'))
})

test('titles too long to be repeated are those of the first piece only', () => {
  const titles = `Pay | ${'Open until '.repeat(30).trim()}`
  const rows = Array.from({ length: 200 }, (_, row) => `${row}00 to ${row}50 | ${row} May 2008`)
  const sections = groupSections([{ kind: 'table', text: [titles, ...rows].join('\n') }])
  const [first, ...others] = sections.flatMap(({ blocks = [] }) => blocks.map(({ headerEnd }) => headerEnd))
  expect([first, others]).toEqual([titles.length, sections.slice(1).map(() => undefined)])
})

test.each(['Pay | Open until', 'Pay: | Open until:', 'Table 1: Pay', 'Start 10:30 | End 11:30'])(
  'the row "%s" names columns',
  (row) => {
    const [section] = groupSections([{ kind: 'table', text: `${row}\n100 | 1 May` }])
    expect(section?.blocks?.map(({ headerEnd }) => headerEnd)).toEqual([row.length])
  },
)
