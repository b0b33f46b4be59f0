import { expect, test } from 'vitest'
import type { ToolCall } from './commands.ts'
import { describeFinding } from './external-tools.ts'
import type { Finding, ToolRun } from './outcome.ts'
import { readFindings } from './stored-findings.ts'

const search: ToolCall = { name: 'search', argument: 'rent' }
const web: ToolCall = { name: 'web', argument: 'https://a.test/rent how much?' }
const knowledge: ToolCall = { name: 'knowledge', argument: 'rent' }

const runOf = (name: string, content: string, status: ToolRun['status'] = 'done'): ToolRun => ({
  name,
  status,
  durationMs: 1,
  content,
})

const page: Finding = {
  kind: 'page',
  address: 'https://a.test/rent',
  title: 'Rent',
  text: 'The rent is 900.\n\nhttps://b.test/\n\nEnd.',
  question: 'how much?',
}

test.each<[string, ToolCall, Finding]>([
  ['a page', web, page],
  ['a page without a title', web, { ...page, title: '' }],
  ['nothing', search, { kind: 'results', words: 'rent', results: [] }],
  [
    'results, whose words may hold empty lines',
    search,
    {
      kind: 'results',
      words: 'rent',
      results: [
        { title: 'Rent', address: 'https://a.test/', snippet: 'one\n\ntwo' },
        { title: '', address: 'https://b.test/', snippet: '' },
        { title: 'Deposit', address: 'https://c.test/', snippet: 'two rents' },
      ],
    },
  ],
])('%s is read as it was found', (_name, call, finding) => {
  expect(readFindings([call], [runOf(call.name, describeFinding(finding))])).toEqual([finding])
})

test('a failed run becomes a failure', () => {
  const reason = 'No search engine is configured.'
  expect(readFindings([search], [runOf('search', reason, 'failed')])).toEqual([
    { kind: 'failure', tool: 'search', reason },
  ])
})

test('document searches leave no finding, and later runs of the model are ignored', () => {
  const runs = [runOf('knowledge', 'lease.pdf'), runOf('web', describeFinding(page)), runOf('search', 'more')]
  expect(readFindings([knowledge, web], runs)).toEqual([page])
})

test('the result is undefined if a command has no run', () => {
  expect(readFindings([search, web], [runOf('search', '')])).toBeUndefined()
  expect(readFindings([web], [runOf('search', '')])).toBeUndefined()
})
