import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Ahead, type Conflict, createChangeQueue, type RecordedChange } from './change-queue.ts'

const PAGE = 3
const ROWS = ['a', 'b', 'c', 'd', 'e', 'f']

const createChange = (id: string, xid: string, row: string): RecordedChange => ({
  id,
  xid,
  schema: 'public',
  table: row,
  operation: 'UPDATE',
  key: {},
  old: undefined,
  isOldCut: false,
  changedAt: 0,
})

/** A transaction's rows in order; a transaction of one row is notified as a single change. */
type Commit = readonly string[]
type Event = Commit | 'reload' | 'xmin'

function createFake({ canFindConflicts = true } = {}) {
  const recorded: RecordedChange[] = []
  const delivered: (readonly string[])[] = []
  let duringDelivery: (() => void) | undefined
  const changesAhead = ({ xids, after }: Ahead) =>
    recorded.filter((change) => xids.includes(change.xid) && Number(change.id) > Number(after))

  function conflictsOf(changes: readonly RecordedChange[], transactions: readonly Ahead[]): Conflict[] {
    return changes.flatMap((change) => {
      const ahead = transactions.map((transaction) =>
        changesAhead(transaction).filter(({ table }) => table === change.table),
      )
      const index = ahead.findIndex((ofRow) => ofRow.length > 0)
      const last = ahead[index]?.at(-1)
      return last ? [{ ids: [change.id], index, until: last.id }] : []
    })
  }

  const deliver = (batch: readonly string[]) => {
    delivered.push(batch)
    duringDelivery?.()
    duringDelivery = undefined
    return Promise.resolve()
  }
  const queue = createChangeQueue<string>({
    handle: (control) => deliver([control]),
    deliver: (changes) => deliver(changes.map(({ id, table }) => `${table}${id}`)),
    readPage: (transaction) => {
      const ahead = changesAhead(transaction)
      const changes = ahead.slice(0, PAGE)
      return Promise.resolve({ changes, next: ahead.length > PAGE ? changes.at(-1)?.id : undefined })
    },
    findConflicts: (changes, transactions) =>
      Promise.resolve(canFindConflicts ? conflictsOf(changes, transactions) : undefined),
  })

  function record(rows: Commit) {
    const xid = String(recorded.length + 100)
    const changes = rows.map((row, index) => createChange(String(recorded.length + index + 1), xid, row))
    recorded.push(...changes)
    return { xid, changes }
  }

  function commit(rows: Commit): void {
    const { xid, changes } = record(rows)
    const [first] = changes
    if (first && rows.length === 1) queue.addChange(first)
    else queue.addTransaction([xid])
  }

  return {
    delivered,
    queue,
    addTogether: (...commits: Commit[]) => queue.addTransaction(commits.map((rows) => record(rows).xid)),
    add: (...events: Event[]) => {
      for (const event of events) {
        if (typeof event === 'string') queue.addControl(event, { isBarrier: event === 'reload' })
        else commit(event)
      }
    },
    /** Runs once, while the next batch is delivered. */
    duringDelivery: (run: () => void) => {
      duringDelivery = run
    },
    finish: async () => {
      while (!queue.isEmpty) await queue.step()
      return delivered.map((batch) => batch.join(' '))
    },
  }
}

const rowsFrom = (row: string, count: number): string[] => Array.from({ length: count }, () => row)

test('single changes pass a large transaction, together', async () => {
  const { add, finish } = createFake()
  add(rowsFrom('a', 7), ['b'], ['c'])
  expect(await finish()).toEqual(['b8 c9', 'a1 a2 a3', 'a4 a5 a6', 'a7'])
})

test('single changes that arrive while a page is delivered come before the next page', async () => {
  const { add, finish, duringDelivery } = createFake()
  add(rowsFrom('a', 7))
  duringDelivery(() => add(['b']))
  expect(await finish()).toEqual(['a1 a2 a3', 'b8', 'a4 a5 a6', 'a7'])
})

test('a single change waits for an earlier change of its row, and no longer', async () => {
  const { add, finish } = createFake()
  add(['a', 'a', 'a', 'a', 'b', 'c', 'c', 'c', 'c'], ['b'], ['c'], ['a'])
  expect(await finish()).toEqual(['a1 a2 a3', 'a4 b5 c6', 'b10 a12', 'c7 c8 c9', 'c11'])
})

test('a transaction waits for an earlier change of one of its rows, and later ones wait for it', async () => {
  const { add, finish } = createFake()
  add([...rowsFrom('a', 7), 'b'], ['b', 'c'], ['c'], rowsFrom('d', 2))
  expect(await finish()).toEqual(['a1 a2 a3', 'a4 a5 a6', 'a7 b8', 'b9 c10', 'c11', 'd12 d13'])
})

test('large transactions alternate, and a new one waits for at most two pages', async () => {
  const { add, finish, queue } = createFake()
  add(rowsFrom('a', 12), rowsFrom('b', 12), rowsFrom('c', 12))
  for (let step = 0; step < 6; step += 1) await queue.step()
  add(rowsFrom('d', 2))
  const order = (await finish()).map((batch) => batch[0]).join('')
  expect(order).toBe('aabacb' + 'd' + 'acbcbc')
})

test('only those of the transactions read together wait that conflict', async () => {
  const { add, addTogether, finish } = createFake()
  add(rowsFrom('a', 7))
  addTogether(['b'], ['a', 'c'], ['c'])
  addTogether(['d'], ['e'])
  expect(await finish()).toEqual(['a1 a2 a3', 'a4 a5 a6', 'b8', 'a7', 'a9 c10', 'c11', 'd12 e13'])
})

test('a barrier is handled between what is before and what is after it', async () => {
  const { add, finish } = createFake()
  add(rowsFrom('a', 5), ['b'], 'reload', ['c'], rowsFrom('d', 2))
  expect(await finish()).toEqual(['b6', 'a1 a2 a3', 'a4 a5', 'reload', 'c7', 'd8 d9'])
})

test('a horizon is passed, but handled only when everything before it is done', async () => {
  const { add, finish } = createFake()
  add(rowsFrom('a', 5), 'xmin', ['b'])
  expect(await finish()).toEqual(['b6', 'a1 a2 a3', 'a4 a5', 'xmin'])
})

test('a single change of a transaction that is read anyway is left to its page', async () => {
  const { queue, add, finish } = createFake()
  add(['a', 'b'])
  queue.addChange(createChange('2', '100', 'b'))
  expect(await finish()).toEqual(['a1 b2'])
})

test('without an answer about conflicts, changes keep the commit order', async () => {
  const { add, finish } = createFake({ canFindConflicts: false })
  add(['a'], rowsFrom('b', 5), ['c'], rowsFrom('d', 2), ['e'])
  expect((await finish()).join(' ')).toBe('a1 b2 b3 b4 b5 b6 c7 d8 d9 e10')
})

test('a transaction that cannot be read and a failed delivery stop nothing', async () => {
  const seen: string[] = []
  const queue = createChangeQueue<string>({
    handle: (control) => Promise.resolve(void seen.push(control)),
    deliver: () => Promise.reject(new Error('not delivered')),
    readPage: () => Promise.resolve(undefined),
    findConflicts: () => Promise.resolve([]),
  })
  queue.addTransaction(['1'])
  queue.addChange(createChange('1', '2', 'a'))
  queue.addControl('end', { isBarrier: true })
  await expect(queue.step()).rejects.toThrow('not delivered')
  await queue.step()
  await queue.step()
  expect([queue.isEmpty, seen]).toEqual([true, ['end']])
})

const changesOf = (row: string, all: readonly string[]) => all.filter((one) => new RegExp(`^${row}\\d`).test(one))

/** Changes between barriers, in any order. */
const sectionsOf = (all: readonly string[]) =>
  all
    .join(' ')
    .split('reload')
    .map((section) => section.split(' ').filter((one) => one !== 'xmin').toSorted()) // prettier-ignore

test('over random commits, each change is delivered once, each row in commit order, and barriers hold', async () => {
  const row = fc.constantFrom(...ROWS)
  const event: fc.Arbitrary<Event> = fc.oneof(
    { weight: 6, arbitrary: fc.array(row, { minLength: 1, maxLength: 1 }) },
    { weight: 4, arbitrary: fc.array(row, { minLength: 2, maxLength: 14 }) },
    { weight: 1, arbitrary: fc.constantFrom('reload' as const, 'xmin' as const) },
  )
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(event, fc.nat({ max: 2 })), { maxLength: 30 }), async (events) => {
      const { add, queue, delivered, finish } = createFake()
      const expected: string[] = []
      let id = 0
      for (const [one, steps] of events) {
        add(one)
        if (typeof one === 'string') expected.push(one)
        else for (const table of one) expected.push(`${table}${(id += 1)}`)
        for (let step = 0; step < steps && !queue.isEmpty; step += 1) await queue.step()
      }
      await finish()
      const flat = delivered.flat()
      expect(flat.toSorted()).toEqual(expected.toSorted())
      for (const ofRow of ROWS) expect(changesOf(ofRow, flat)).toEqual(changesOf(ofRow, expected))
      expect(sectionsOf(flat)).toEqual(sectionsOf(expected))
      const beforeHorizon = expected.slice(0, Math.max(0, expected.indexOf('xmin')))
      expect(flat.slice(0, Math.max(0, flat.indexOf('xmin')))).toEqual(expect.arrayContaining(beforeHorizon))
    }),
    { numRuns: 300 },
  )
})
