import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '#test/database.ts'
import { eachRow, type ListBounds, readJsonList, readJsonRows } from './json-list.ts'

let db: TestDatabase
beforeAll(async () => {
  db = await createTestDatabase()
  await db.admin.query(`
    create table public.notes (id integer primary key, text text);
    grant select on public.notes to authenticated;
    insert into notes select i, repeat('n', case when i between 11 and 20 then 900000 else 10 end) from generate_series(1, 30) i;
    create sequence rendered;
    create function rendering(notes) returns text language plpgsql volatile security definer
      as $$ begin perform nextval('public.rendered'); return $1.text; end $$;
    grant execute on function rendering(notes) to authenticated`)
})
afterAll(() => db.drop())

const NOTES = 'select id, text from notes where id > $1 order by id limit $2'
const MEGABYTE = 1024 * 1024

const read = async (after: number, limit: number | undefined, bounds: ListBounds) => {
  const person = await db.createPerson()
  return db.database.asUser(person, (scope) =>
    readJsonRows<{ id: number; text: string }>(
      scope,
      { text: NOTES, values: [after, limit] },
      { ...bounds, wayOut: 'Ask for less.' },
    ),
  )
}

describe('a list', () => {
  test('is complete and in order below its bounds', async () => {
    const rows = await read(0, undefined, { maxRows: 30, maxBytes: 20 * MEGABYTE })
    expect(rows.map(({ id }) => id)).toEqual(Array.from({ length: 30 }, (_, index) => index + 1))
    expect(rows[10]?.text).toHaveLength(900_000)
  })

  test('without rows is empty', async () => {
    const person = await db.createPerson()
    const list = await db.database.asUser(person, (scope) =>
      readJsonList(scope, { text: NOTES, values: [99, 1] }, { maxRows: 1, maxBytes: 1, wayOut: '' }),
    )
    expect(list).toBe('[]')
  })

  test.each<[string, ListBounds]>([
    ['bytes', { maxRows: 100, maxBytes: 4 * MEGABYTE }],
    ['rows', { maxRows: 29, maxBytes: 20 * MEGABYTE }],
    ['bytes of one row', { maxRows: 1, maxBytes: 100_000 }],
  ])('past its bound of %s is refused, with a way out', async (_name, bounds) => {
    await expect(read(10, bounds.maxRows === 1 ? 1 : undefined, { ...bounds, maxRows: Math.min(bounds.maxRows, 19) })).rejects.toMatchObject({
      name: 'AppError',
      code: 'too_large',
      message: 'This is too large for one answer. Ask for less.',
    }) // prettier-ignore
  })

  test('stops in PostgreSQL at the first row past the bound, and renders each row once', async () => {
    const person = await db.createPerson()
    const statement = { text: 'select n.id, rendering(n) from notes n where id > 10', values: [] }
    const refused = db.database.asUser(person, (scope) =>
      readJsonList(scope, statement, { maxRows: 100, maxBytes: 3 * MEGABYTE, wayOut: '' }),
    )
    await expect(refused).rejects.toMatchObject({ code: 'too_large' })
    const { rows } = await db.admin.query<{ last_value: string }>('select last_value from rendered')
    expect(Number(rows[0]?.last_value)).toBe(4)
  })
})

test('a list of any length is read in pages that are shorter where rows are large', async () => {
  const pages: number[] = []
  const ids: number[] = []
  const each = eachRow<{ id: number }>(async (last, bounds) => {
    const page = await read(last?.id ?? 0, bounds.maxRows, bounds)
    pages.push(page.length)
    return page
  })
  for await (const { id } of each) ids.push(id)
  expect(ids).toEqual(Array.from({ length: 30 }, (_, index) => index + 1))
  expect(Math.min(...pages.slice(0, -1))).toBeLessThan(5)
})

test('another error than a large page ends the reading', async () => {
  const each = eachRow<never>(() => Promise.reject(new Error('lost')))
  await expect(each.next()).rejects.toThrow('lost')
})

test('sorting writes a bounded number of bytes to the disk', async () => {
  const person = await db.createPerson()
  const { rows } = await db.database.asUser(person, (scope) => scope.query('show temp_file_limit'))
  expect(rows).toEqual([{ temp_file_limit: '512MB' }])
})
