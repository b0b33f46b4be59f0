import { expect, test } from 'vitest'
import { findFaults, readClauses, readTitles } from './specification.ts'

const source = [
  "test('opens', async () => {})",
  "test.each([['a'], ['b']])('takes %s', () => {})",
  "test.runIf(exists('a file'))('reads it', () => {})",
  "describe('a group', () => { it('is found in it', () => {}) })",
  'test(`killed while ${stage}`, { timeout: 1 }, () => {})',
  "test.skip('is left out', () => {})",
  "// test('is only spoken of', () => {})",
  "expect('a text').toBe('test')",
].join('\n')

const table = (...rows: string[]) =>
  ['# A page', '', '| Clause | Asks | Shown by |', '| --- | --- | --- |', ...rows].join('\n')
const faultsOf = (rows: string[], sections: string[]) =>
  findFaults(readClauses(table(...rows)), (file) => (file === 'a.test.ts' ? readTitles(source) : null), sections)

test('finds the titles of every kind of test, and nothing else', () => {
  const { whole, beginnings } = readTitles(source)
  expect([...whole]).toEqual(['opens', 'takes %s', 'reads it', 'is found in it'])
  expect(beginnings).toEqual(['killed while '])
})

test('a table whose tests exist has no faults', () => {
  const rows = [
    '| 1-1 | It opens | `a.test.ts › opens`<br>`a.test.ts › takes %s` |',
    '| 2.10-1 | It goes on | `a.test.ts › killed while reading` |',
  ]
  expect(faultsOf(rows, ['1', '2.10'])).toEqual([])
})

test.each([
  ['a clause without a test', '| 1-2 | It opens | |', '1-2 is shown by no test.'],
  ['a clause that only speaks of one', '| 1-2 | It opens | a.test.ts › opens |', '1-2 is shown by no test.'],
  ['a file that is gone', '| 1-2 | It opens | `b.test.ts › opens` |', '1-2 names b.test.ts, which does not exist.'],
  [
    'a title that is gone',
    '| 1-2 | It opens | `a.test.ts › shuts` |',
    '1-2 names “shuts”, which is no test of a.test.ts.',
  ],
  [
    'a test that is skipped',
    '| 1-2 | It | `a.test.ts › is left out` |',
    '1-2 names “is left out”, which is no test of a.test.ts.',
  ],
  ['half a title', '| 1-2 | It opens | `a.test.ts › open` |', '1-2 names “open”, which is no test of a.test.ts.'],
  ['an id that stands twice', '| 1-1 | It opens | `a.test.ts › opens` |', '1-1 stands there twice.'],
  ['a section that does not exist', '| 7-1 | It opens | `a.test.ts › opens` |', '7-1 belongs to no section.'],
])('%s is a fault', (_, row, fault) => {
  expect(faultsOf(['| 1-1 | It opens | `a.test.ts › opens` |', row], ['1'])).toEqual([fault])
})

test('a section that is left out is a fault', () => {
  expect(faultsOf(['| 1-1 | It opens | `a.test.ts › opens` |'], ['1', '2.1'])).toEqual(['Section 2.1 is missing.'])
})
