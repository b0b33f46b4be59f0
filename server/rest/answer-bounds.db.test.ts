/** Answers that would fill the memory of PostgreSQL and of the server, next to answers that still fit. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AppError } from '#server/base/errors.ts'
import { type RestTestService, startRestService } from '#test/rest-service.ts'
import { DEFAULT_ANSWER_BOUNDS } from './answer-bounds.ts'
import { renderError, toRestError } from './errors.ts'

const LARGE_BYTES = 950_000
const SHELVES_SQL = `
  create table shelves (id integer primary key, about jsonb);
  create table books (id integer primary key, shelf_id integer references shelves, copy_of integer references books, text text);
  grant select, insert, update, delete on shelves, books to authenticated;
  insert into shelves values (1, to_jsonb(repeat('s', ${LARGE_BYTES}))), (2, '"small"');
  insert into books select i, 1, 1, null from generate_series(1, 620) i;
  insert into books select i, 2, 1, case when i > 715 then repeat('b', ${LARGE_BYTES}) else 'small' end
    from generate_series(701, 720) i;
  create function large_text(size integer) returns text language sql stable return repeat('0123456789', size / 10);
  create function large_texts(size integer, times integer) returns setof text language sql stable
    as $$ select repeat('0123456789', size / 10) from generate_series(1, times) $$;
  create function large_rows(times integer) returns setof books language sql stable
    as $$ select b.id, 1, 1, repeat('x', ${LARGE_BYTES}) from books b limit times $$;
  create function summary(books) returns text language sql stable return repeat('y', ${LARGE_BYTES});
  grant execute on function large_text(integer), large_texts(integer, integer), large_rows(integer), summary(books) to authenticated;
`

let service: RestTestService
let headers: Record<string, string>

beforeAll(async () => {
  service = await startRestService()
  await service.db.admin.query(SHELVES_SQL)
  headers = { ...(await service.headersOf(await service.db.createPerson())), 'content-type': 'application/json' }
})
afterAll(() => service.close())

async function ask(address: string, init: Omit<RequestInit, 'headers'> & { headers?: Record<string, string> } = {}) {
  const response = await fetch(`${service.url}/${address}`, { ...init, headers: { ...headers, ...init.headers } })
  return { status: response.status, text: await response.text() }
}

const TOO_LARGE = {
  code: 'PT413',
  message: 'The answer is too large',
  details: expect.stringMatching(/^One answer, or one embedded list, may hold \d+ bytes\.$/) as string,
  hint: 'Select fewer columns or fewer rows (select=, limit=, Range). A write returns no rows with Prefer: return=minimal.',
}

describe('an answer past the bound is refused as a whole', () => {
  test.each<[string, string, Record<string, string>?]>([
    ['one large value embedded by many rows', 'books?select=shelves(about)'],
    ['the same value spread into many rows', 'books?select=...shelves(about)'],
    ['one list of one row', 'shelves?select=books(shelves(about))&id=eq.1'],
    ['spread lists', 'shelves?select=...books(id,shelf_id,summary)&id=eq.1'],
    [
      'a list four levels down',
      'shelves?id=eq.1&select=books(a:books!copy_of(b:books!copy_of(c:books!copy_of(shelves(about)))))',
    ],
    ['a part of the value', 'books?select=id,shelves(all:about,text:about::text)'],
    ['a computed column', 'books?select=summary'],
    ['stripped nulls', 'books?select=shelves(about)', { Accept: 'application/vnd.pgrst.array+json;nulls=stripped' }],
    ['a counted page', 'books?select=shelves(about)&limit=100', { Prefer: 'count=exact' }],
    ['a large text of a function', 'rpc/large_text?size=100000000'],
    [
      'a large row asked for alone',
      'rpc/large_texts?size=100000000&times=1',
      { Accept: 'application/vnd.pgrst.object+json' },
    ],
    ['many texts of a function', 'rpc/large_texts?size=1000000&times=40'],
    ['many rows of a function', 'rpc/large_rows?times=40'],
    ['what rows of a function embed', 'rpc/large_rows?times=60&select=id,shelves(about)'],
  ])('%s', async (_name, address, more = {}) => {
    const { status, text } = await ask(address, { headers: more })
    expect({ status, body: JSON.parse(text) as unknown }).toEqual({ status: 413, body: TOO_LARGE })
  })

  test.each(['POST', 'PATCH', 'DELETE'] as const)('rows that %s returns, and nothing is written', async (method) => {
    const before = await service.db.admin.query('select id, copy_of from books order by id')
    const body =
      method === 'POST'
        ? Array.from({ length: 60 }, (_, index) => ({ id: 5_000 + index, shelf_id: 1 }))
        : { copy_of: 2 }
    const { status, text } = await ask(`books?select=id,shelves(about)${method === 'POST' ? '' : '&id=lt.100'}`, {
      method,
      headers: { Prefer: 'return=representation' },
      ...(method === 'DELETE' ? {} : { body: JSON.stringify(body) }),
    })
    expect({ status, body: JSON.parse(text) as unknown }).toEqual({ status: 413, body: TOO_LARGE })
    expect((await service.db.admin.query('select id, copy_of from books order by id')).rows).toEqual(before.rows)
  })

  test('many small rows that a write returns', async () => {
    const small = await startRestService({ bounds: { maxRows: 10, maxBytes: 2_000 } })
    await small.db.admin.query(SHELVES_SQL)
    const own = { ...(await small.headersOf(await small.db.createPerson())), Prefer: 'return=representation' }
    const patch = (filter: string) =>
      fetch(`${small.url}/books?select=id&${filter}`, {
        method: 'PATCH',
        headers: { ...own, 'content-type': 'application/json' },
        body: '{"copy_of":2}',
      })
    expect((await patch('id=lt.500')).status).toBe(413)
    const some = await patch('id=lt.50')
    expect([some.status, ((await some.json()) as unknown[]).length]).toEqual([200, 49])
    await small.close()
  })
})

test('lists of one row share the room', async () => {
  const lists = (times: number) =>
    `shelves?id=eq.2&select=${Array.from({ length: times }, (_, at) => `a${at}:books(text)`).join()}`
  expect((await ask(lists(4))).status).toBe(200)
  expect((await ask(lists(40))).status).toBe(413)
})

test('a column is named a hundred times at most, also by its parts', async () => {
  const named = (times: number, step = '') =>
    `shelves?id=eq.2&select=${Array.from({ length: times }, (_, at) => `a${at}:about${step}`).join()}`
  expect((await ask(named(101))).status).toBe(200)
  expect((await ask(named(102, '->x'))).status).toBe(400)
  expect((await ask(`books?id=eq.1&select=shelves(${named(60).split('=')[2]}),more:shelves(${named(60).split('=')[2]})`)).status).toBe(400) // prettier-ignore
})

test('an answer below the bound is complete', async () => {
  const rows = JSON.parse((await ask('books?select=id,shelves(about)&limit=30')).text) as {
    shelves: { about: string }
  }[]
  expect(rows).toHaveLength(30)
  expect(rows.every(({ shelves }) => shelves.about.length === LARGE_BYTES)).toBe(true)
  const [shelf] = JSON.parse((await ask('shelves?select=books(id,text)&id=eq.2')).text) as {
    books: { text: string }[]
  }[]
  expect(shelf?.books.map(({ text }) => text.length)).toEqual([
    ...Array<number>(15).fill(5),
    ...Array<number>(5).fill(LARGE_BYTES),
  ])
  expect(JSON.parse((await ask('rpc/large_text?size=10000000')).text)).toHaveLength(10_000_000)
})

test('a page past the row limit is cut off, and says which rows it holds', async () => {
  const { maxBytes } = DEFAULT_ANSWER_BOUNDS
  const cut = await startRestService({ bounds: { maxRows: 5, maxBytes } })
  await cut.db.admin.query(SHELVES_SQL)
  const own = { ...(await cut.headersOf(await cut.db.createPerson())), Prefer: 'count=exact' }
  const answer = await fetch(`${cut.url}/shelves?select=id,books(id,copies:books!copy_of(id))&order=id`, {
    headers: own,
  })
  const rows = (await answer.json()) as { books: { copies: unknown[] }[] }[]
  expect(rows.map(({ books }) => books.length)).toEqual([5, 5])
  expect(rows[0]?.books[0]?.copies).toHaveLength(5)
  const books = await fetch(`${cut.url}/books?select=id`, { headers: own })
  expect([books.status, books.headers.get('content-range')]).toEqual([206, '0-4/640'])
  const called = await fetch(`${cut.url}/rpc/large_rows?times=9&select=id`, { headers: own })
  expect([called.status, called.headers.get('content-range')]).toEqual([206, '0-4/9'])
  await cut.close()
})

test('PostgreSQL stops at the first row past the bound', async () => {
  const stopped = await startRestService()
  await stopped.db.admin.query(`${SHELVES_SQL}
    create sequence rendered;
    create function rendering(books) returns text language plpgsql volatile security definer
      as $$ begin perform nextval('public.rendered'); return repeat('z', ${LARGE_BYTES}); end $$;
    grant execute on function rendering(books) to authenticated;`)
  const own = { ...(await stopped.headersOf(await stopped.db.createPerson())), 'content-type': 'application/json' }
  const answer = await fetch(`${stopped.url}/books?select=id,rendering`, {
    method: 'PATCH',
    headers: { ...own, Prefer: 'return=representation' },
    body: '{"copy_of":2}',
  })
  expect(answer.status).toBe(413)
  const { rows } = await stopped.db.admin.query<{ last_value: string }>('select last_value from rendered')
  expect(Number(rows[0]?.last_value)).toBe(Math.floor(DEFAULT_ANSWER_BOUNDS.maxBytes / LARGE_BYTES) + 1)
  await stopped.close()
})

test('an answer past what the driver takes is refused in the same way', async () => {
  const refused = toRestError(new AppError('too_large', 'The answer of the database is larger than 128 MB.'), true)
  const answer = refused && renderError(refused)
  expect([answer?.status, await answer?.json()]).toEqual([
    413,
    { ...TOO_LARGE, details: 'The answer of the database is larger than 128 MB.' },
  ])
})

const countConnections = async ({ admin }: RestTestService['db']) =>
  (await admin.query(`select from pg_stat_activity where usename = 'authenticator' and datname = current_database()`))
    .rowCount

test('a sort that would write too much to the disk is refused', async () => {
  const sorting = await startRestService()
  await sorting.db.admin.query(`
    alter role authenticator in database ${String(sorting.db.connection.database)} set temp_file_limit = '1MB';
    create table wide (id integer, text text storage plain);
    insert into wide select i, repeat(md5(i::text), 20) from generate_series(1, 20000) i;
    grant select on wide to authenticated;
    select pg_terminate_backend(pid) from pg_stat_activity where usename = 'authenticator' and datname = current_database()`)
  await expect.poll(() => countConnections(sorting.db)).toBe(0)
  const own = await sorting.headersOf(await sorting.db.createPerson())
  const answer = await fetch(`${sorting.url}/wide?select=text&order=text.desc`, { headers: own })
  expect([answer.status, await answer.json()]).toEqual([
    413,
    {
      code: '53400',
      message: expect.stringContaining('temp_file_limit') as string,
      details: null,
      hint: 'Sort or join fewer rows, or smaller columns (select=, filters, order= by an indexed column).',
    },
  ])
  expect((await fetch(`${sorting.url}/wide?select=id&limit=1`, { headers: own })).status).toBe(200)
  await sorting.close()
})
