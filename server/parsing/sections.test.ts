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
