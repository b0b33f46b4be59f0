import { expect, test } from 'vitest'
import { parseFilters } from '#server/database/filter.ts'
import { createChangeFilters } from './change-filters.ts'
import type { PublishedTable } from './catalogue.ts'
import { createFilterWork } from './filter-work.ts'
import { DEFAULT_LIMITS } from './limits.ts'
import type { Change } from './outbox.ts'
import { createRowParser } from './parse-row.ts'

const TABLE: PublishedTable = {
  schema: 'public',
  name: 'notes',
  sqlName: 'public.notes',
  columns: [],
  formats: new Map([
    ['title', 'text'],
    ['owner', 'uuid'],
  ]),
  key: [],
  hasRowSecurity: false,
  hasFullIdentity: false,
  isOpenToService: true,
  readable: { anon: new Set(), authenticated: new Set(), service_role: new Set() },
  visibility: { anon: 'true', authenticated: 'true', service_role: 'true' },
}

const newChange = (id = '1'): Change => ({
  id,
  schema: 'public',
  table: 'notes',
  operation: 'INSERT',
  key: {},
  old: undefined,
  isOldCut: false,
  changedAt: 0,
})

const bindingOf = (person: string | undefined, filterText: string) => ({
  channel: { claims: { sub: person }, connection: { address: '203.0.113.9' } },
  filters: parseFilters(filterText),
  filterText,
})

/** Counts the evaluations that take work. */
function countedWork(limits: Partial<typeof DEFAULT_LIMITS> = {}, clock = () => 0) {
  const filterWork = createFilterWork({ ...DEFAULT_LIMITS, ...limits }, clock)
  const people: string[] = []
  return {
    people,
    filterWork: {
      ...filterWork,
      startChange: () => {
        const work = filterWork.startChange()
        return {
          startFilter: (person: string) => {
            people.push(person)
            return work.startFilter(person)
          },
        }
      },
    },
  }
}

const HOSTILE = 'title=match.a{0,240}b'
const LONG_TITLE = JSON.stringify({ title: 'a'.repeat(20_000), owner: 'aaaaaaaa-0000-4000-8000-000000000000' })

test('anonymous accounts, which an address can open at will, share what the filters of their address may take', () => {
  const { people, filterWork } = countedWork()
  const filters = createChangeFilters(filterWork)
  const parseRow = createRowParser()
  const change = newChange()
  for (const [sub, isAnonymous] of [
    ['ann', true],
    ['ben', true],
    ['cleo', false],
  ] as const) {
    const { channel, ...binding } = bindingOf(sub, `title=like.${sub}%`)
    const anonymous = { ...binding, channel: { ...channel, claims: { sub, is_anonymous: isAnonymous } } }
    filters.matches(anonymous, change, TABLE, parseRow(TABLE, '{"title":"abc"}', null))
  }
  expect(people).toEqual(['203.0.113.9', '203.0.113.9', 'cleo'])
})

test('equal filters are evaluated once for a row that several people see', () => {
  const { people, filterWork } = countedWork()
  const filters = createChangeFilters(filterWork)
  const parseRow = createRowParser()
  const change = newChange()
  const matches = ['ann', 'ben', 'cleo'].map((person) =>
    filters.matches(bindingOf(person, 'title=like.a%'), change, TABLE, parseRow(TABLE, '{"title":"abc"}', null)),
  )
  expect(matches).toEqual([true, true, true])
  expect(people).toEqual(['ann'])
  expect(
    filters.matches(bindingOf('ben', 'title=like.a%'), change, TABLE, parseRow(TABLE, '{"title":"xyz"}', null)),
  ).toBe(false)
  expect(people).toEqual(['ann', 'ben'])
})

test('what one person cannot afford is unknown, and plain comparisons still match', () => {
  const { filterWork } = countedWork()
  const filters = createChangeFilters(filterWork)
  const values = createRowParser()(TABLE, LONG_TITLE, null)
  const change = newChange()
  expect(filters.matches(bindingOf('ann', HOSTILE), change, TABLE, values)).toBeUndefined()
  const owned = bindingOf('ann', 'owner=eq.aaaaaaaa-0000-4000-8000-000000000000')
  expect(filters.matches(owned, change, TABLE, values)).toBe(true)
  expect(filters.matches(bindingOf('ben', 'title=match.^ab'), change, TABLE, values)).toBe(false)
})

test('work for one change is bounded over all filters of a person, and over time', () => {
  let nowMs = 0
  const limits = { filterStepsPerChange: 100_000, filterStepsPerSecond: 30_000 }
  const filterWork = createFilterWork({ ...DEFAULT_LIMITS, ...limits }, () => nowMs)
  const first = filterWork.startChange()
  first.startFilter('ann').spend(60_000)
  expect(() => first.startFilter('ann').spend(60_000)).toThrow('exceeds')
  first.startFilter('ben').spend(60_000)
  // The saved 300,000 steps last for some changes; then a second brings 30,000.
  filterWork.startChange().startFilter('ann').spend(100_000)
  filterWork.startChange().startFilter('ann').spend(100_000)
  expect(() => filterWork.startChange().startFilter('ann').spend(60_000)).toThrow('exceeds')
  nowMs += 1_000
  filterWork.startChange().startFilter('ann').spend(60_000)
  expect(() => filterWork.startChange().startFilter('ann').spend(60_000)).toThrow('exceeds')
  filterWork.sweep()
  expect(() => filterWork.startChange().startFilter('ann').spend(60_000)).toThrow('exceeds')
})

test('people without an account share the work of their address', () => {
  const { people, filterWork } = countedWork()
  const filters = createChangeFilters(filterWork)
  filters.matches(bindingOf(undefined, HOSTILE), newChange(), TABLE, createRowParser()(TABLE, '{"title":"a"}', null))
  expect(people).toEqual(['203.0.113.9'])
})
