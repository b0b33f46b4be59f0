import { QueryClient } from '@tanstack/react-query'
import { beforeEach, describe, expect, test } from 'vitest'
import { createPagedList, type PagedList } from './paged-list.ts'

interface Row {
  readonly id: string
  readonly rank: number
  readonly name: string
}
type View = { readonly search: string }

const row = (rank: number, name = `row ${rank}`): Row => ({ id: `id ${rank}`, rank, name })
const ALL: View = { search: '' }

let client: QueryClient
let stored: Row[]
let list: PagedList<Row, View>
/** Held reads wait for their release. */
let held: (() => void)[]
let holds: boolean

beforeEach(() => {
  client = new QueryClient()
  stored = Array.from({ length: 10 }, (_, rank) => row(rank))
  held = []
  holds = false
  list = createPagedList<Row, View>({
    pageSize: 3,
    nextPageSize: 3,
    maxPageSize: 4,
    prefix: ['rows'],
    describe: ({ search }) => ({
      compare: (one, other) => one.rank - other.rank,
      includes: ({ name }) => name.includes(search),
      async read(last, limit) {
        const found = stored.filter(
          ({ rank, name }) => name.includes(search) && (last === undefined || rank > last.rank),
        )
        if (holds) await new Promise<void>((resolve) => held.push(resolve))
        return found.slice(0, limit)
      },
    }),
  })
})

const load = async (view: View = ALL): Promise<void> => {
  await client.query({ ...list.query(view), staleTime: 0 })
}
const loaded = (view: View = ALL) => client.getQueryData(list.query(view).queryKey)
const ranks = (view?: View) => loaded(view)?.rows.map(({ rank }) => rank)

describe('adding', () => {
  test('takes up a row where it is missing, and leaves a loaded one as it is', async () => {
    await load()
    await load({ search: 'new' })
    list.add(client, row(1, 'new name'))
    expect(loaded()?.rows[1]).toEqual(row(1))
    expect(loaded({ search: 'new' })?.rows).toEqual([row(1, 'new name')])
  })
})

test('a change leaves the other rows the same objects', async () => {
  await load()
  const [first, , third] = loaded()?.rows ?? []
  list.remove(client, 'id 1')
  expect(loaded()?.rows[0]).toBe(first)
  expect(loaded()?.rows[1]).toBe(third)
})

describe('reading', () => {
  test('reads page by page until the end', async () => {
    await load()
    expect(loaded()).toEqual({ rows: [row(0), row(1), row(2)], hasMore: true })
    for (let page = 0; page < 3; page += 1) await list.readMore(client, ALL)
    expect(ranks()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    expect(loaded()?.hasMore).toBe(false)
  })

  test('reads as many rows again as are loaded', async () => {
    await load()
    await list.readMore(client, ALL)
    stored = [row(-1), ...stored]
    await load()
    expect(ranks()).toEqual([-1, 0, 1, 2, 3, 4])
    expect(loaded()?.hasMore).toBe(true)
  })

  test('a page that follows a row no longer loaded leaves no gap', async () => {
    await load()
    await list.readMore(client, ALL)
    holds = true
    const more = list.readMore(client, ALL)
    client.setQueryData(list.query(ALL).queryKey, { rows: stored.slice(0, 3), hasMore: true })
    for (const release of held) release()
    await more
    expect(ranks()).toEqual([0, 1, 2])
    expect(loaded()?.hasMore).toBe(true)
  })

  test('calls for the next page at the same time read it once', async () => {
    await load()
    holds = true
    const calls = [list.readMore(client, ALL), list.readMore(client, ALL)]
    expect(held).toHaveLength(1)
    for (const release of held) release()
    await Promise.all(calls)
    expect(ranks()).toEqual([0, 1, 2, 3, 4, 5])
  })

  test('changes during the read of a page reach its rows', async () => {
    await load()
    holds = true
    const more = list.readMore(client, ALL)
    list.remove(client, 'id 3')
    list.change(client, 'id 4', (known) => ({ ...known, name: 'renamed' }))
    list.put(client, row(0.5))
    for (const release of held) release()
    await more
    expect(loaded()?.rows.map(({ name }) => name)).toEqual(['row 0', 'row 0.5', 'row 1', 'row 2', 'renamed', 'row 5'])
  })

  test('changes during the first read reach its rows', async () => {
    holds = true
    const first = load()
    await expect.poll(() => held.length).toBe(1)
    list.remove(client, 'id 1')
    for (const release of held) release()
    await first
    expect(ranks()).toEqual([0, 2])
  })
})

describe('live changes', () => {
  test('a new row takes its place in each view that includes it', async () => {
    await load()
    await load({ search: 'special' })
    list.put(client, row(1.5, 'special'))
    expect(ranks()).toEqual([0, 1, 1.5, 2])
    expect(ranks({ search: 'special' })).toEqual([1.5])
  })

  test('a row after the loaded ones is left to reading further', async () => {
    await load()
    list.put(client, row(4.5))
    list.put(client, { ...row(0), rank: 6.5 })
    expect(ranks()).toEqual([1, 2])
    stored = [...stored.filter(({ rank }) => rank > 0), { ...row(0), rank: 6.5 }].toSorted((a, b) => a.rank - b.rank)
    await list.readMore(client, ALL)
    await list.readMore(client, ALL)
    expect(ranks()).toEqual([1, 2, 3, 4, 5, 6, 6.5, 7])
  })

  test('a row at the end of a complete list is appended', async () => {
    stored = [row(0)]
    await load()
    list.put(client, row(5))
    expect(ranks()).toEqual([0, 5])
  })

  test('a changed row leaves the views that no longer include it', async () => {
    await load({ search: 'row' })
    list.change(client, 'id 1', (known) => ({ ...known, name: 'renamed' }))
    expect(ranks({ search: 'row' })).toEqual([0, 2])
  })

  test('`ifLoaded` adds no row', async () => {
    await load()
    list.put(client, row(1.5), { ifLoaded: true })
    list.put(client, row(1, 'renamed'), { ifLoaded: true })
    expect(loaded()?.rows.map(({ name }) => name)).toEqual(['row 0', 'renamed', 'row 2'])
  })

  test('creates no list', () => {
    list.put(client, row(1))
    expect(loaded()).toBeUndefined()
  })
})
