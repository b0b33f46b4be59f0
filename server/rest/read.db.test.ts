import type { PostgrestClient } from '@supabase/postgrest-js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Claims } from '#server/database/scope.ts'
import { DEFAULT_ANSWER_BOUNDS } from './answer-bounds.ts'
import { type RestTestService, startRestService, THINGS_SQL } from '#test/rest-service.ts'

let service: RestTestService
let person: Claims & { sub: string }
let client: PostgrestClient
let headers: Record<string, string>

beforeAll(async () => {
  service = await startRestService({
    schemas: ['public', 'other'],
    bounds: { ...DEFAULT_ANSWER_BOUNDS, maxRows: 1000 },
  })
  await service.db.admin.query(THINGS_SQL)
  person = await service.db.createPerson()
  client = await service.clientOf(person)
  headers = await service.headersOf(person)
  await service.db.admin.query(
    `insert into things (owner, name, amount, big, flag, feeling, tags, data, plain, during, at, words, code, fixed, "odd ""na.me, (x)")
     select $1, 'thing ' || i, i * 1.10, 9007199254740993 + i, i % 2 = 0, (array['sad','ok','happy'])[1 + i % 3]::mood,
       array['t' || i, 'a,b', 'q"q'], jsonb_build_object('n', i, 'list', jsonb_build_array(i, i + 1), 'deep', jsonb_build_object('key-a', 'v' || i)),
       json_build_object('x', i), int4range(i, i + 3), '2026-01-01'::timestamptz + i * interval '1 day', to_tsvector('english', 'running cats ' || i),
       'c' || i, 'f' || i, 'odd ' || i
     from generate_series(1, 9) i`,
    [person.sub],
  )
  await service.db.admin.query(`insert into things (owner, name) values ($1, null)`, [person.sub])
})
afterAll(() => service.close())

/** PostgreSQL's own result for the same person. */
async function inSql(sql: string): Promise<unknown> {
  return service.db.database.asUser(person, async (scope) => {
    const { rows } = await scope.query<{ rows: unknown }>(`select coalesce(json_agg(r), '[]') as rows from (${sql}) r`)
    return rows[0]?.rows
  })
}

describe('the official client reads the same rows as SQL', () => {
  const things = () => client.from('things')
  const cases: [title: string, ask: () => PromiseLike<{ data: unknown; error: unknown }>, sql: string][] = [
    ['all columns', () => things().select('id, name, amount, flag, tags, data, during, at').order('id'), 'select id, name, amount, flag, tags, data, during, at from things order by id'],
    ['aliases, casts and json paths', () => things().select('label:name,text:amount::text,data->deep->>key-a,first:data->list->0,n:data->>n').order('id'), `select name as label, amount::text as text, data->'deep'->>'key-a' as "key-a", data->'list'->0 as first, data->>'n' as n from things order by id`],
    ['a path into a column that is no json', () => things().select('tags->0,during->>0').eq('name', 'thing 1'), `select to_jsonb(tags)->0 as tags, to_jsonb(during)->>0 as during from things where name = 'thing 1'`],
    ['a computed column', () => things().select('name,shout').order('id'), 'select name, upper(name) as shout from things order by id'],
    ['eq', () => things().select('id').eq('name', 'thing 3'), `select id from things where name = 'thing 3'`],
    ['neq', () => things().select('id').neq('name', 'thing 3').order('id'), `select id from things where name <> 'thing 3' order by id`],
    ['gt, lte', () => things().select('id').gt('amount', 3).lte('amount', 7).order('id'), 'select id from things where amount > 3 and amount <= 7 order by id'],
    ['gte, lt on timestamps', () => things().select('id').gte('at', '2026-01-03').lt('at', '2026-01-06T12:00:00+02:00').order('id'), `select id from things where at >= '2026-01-03' and at < '2026-01-06T12:00:00+02:00' order by id`],
    ['like, ilike', () => things().select('id').like('name', '%ing 2').ilike('name', 'THING*'), `select id from things where name = 'thing 2'`],
    ['like any, all', () => things().select('id').likeAnyOf('name', ['%1', '%2']).likeAllOf('name', ['thing%', '%g%']).order('id'), `select id from things where name in ('thing 1', 'thing 2') order by id`],
    ['ilike any, all', () => things().select('id').ilikeAnyOf('name', ['%1', '%2']).ilikeAllOf('name', ['THING%', '%G%']).order('id'), `select id from things where name in ('thing 1', 'thing 2') order by id`],
    ['match, imatch', () => things().select('id').filter('name', 'match', '^thing [12]$').filter('name', 'imatch', '^THING').order('id'), `select id from things where name ~ '[12]$' order by id`],
    ['eq any of an array', () => things().select('id').filter('name', 'eq(any)', '{thing 1,thing 4}').order('id'), `select id from things where name in ('thing 1', 'thing 4') order by id`],
    ['is', () => things().select('id').is('name', null), 'select id from things where name is null'],
    ['is true', () => things().select('id').is('flag', true).order('id'), 'select id from things where flag is true order by id'],
    ['in, with reserved characters', () => things().select('id').in('"odd \\"na.me, (x)"', ['odd 1', 'x,(y)']), `select id from things where "odd ""na.me, (x)" = 'odd 1'`],
    ['in, empty', () => things().select('id').in('id', []), 'select id from things where false'],
    ['not in', () => things().select('id').notIn('name', ['thing 1', 'thing 2']).order('id'), `select id from things where name not in ('thing 1', 'thing 2') order by id`],
    ['isdistinct', () => things().select('id').isDistinct('name', 'thing 1').order('id'), `select id from things where name is distinct from 'thing 1' order by id`],
    ['contains, contained by, overlaps on arrays', () => things().select('id').contains('tags', ['t1']).containedBy('tags', ['t1', '"a,b"', '"q\\"q"']).overlaps('tags', ['t1', 'zz']), `select id from things where name = 'thing 1'`],
    ['contains on json', () => things().select('id').contains('data', { n: 4 }), `select id from things where name = 'thing 4'`],
    ['ranges', () => things().select('id').rangeLt('during', '[4,9)').order('id'), `select id from things where during << '[4,9)' order by id`],
    ['ranges, greater', () => things().select('id').rangeGt('during', '[1,5)').rangeGte('during', '[2,5)').order('id'), `select id from things where during >> '[1,5)' and during &> '[2,5)' order by id`],
    ['ranges, adjacent', () => things().select('id').rangeAdjacent('during', '[4,6)').order('id'), `select id from things where during -|- '[4,6)' order by id`],
    ['text search on a vector', () => things().select('id').textSearch('words', 'run & cat', { config: 'english' }).order('id'), `select id from things where words @@ to_tsquery('english', 'run & cat') order by id`],
    ['text search on text', () => things().select('id').textSearch('name', 'thing 3', { type: 'plain', config: 'simple' }), `select id from things where name = 'thing 3'`],
    ['phrase and web search', () => things().select('id').textSearch('name', 'thing 3', { type: 'phrase' }).textSearch('name', '"thing 3" -cat', { type: 'websearch' }), `select id from things where name = 'thing 3'`],
    ['not', () => things().select('id').not('name', 'like', '%1').order('id'), `select id from things where not name like '%1' order by id`],
    ['or, nested', () => things().select('id').or('name.eq.thing 1,and(amount.gt.8,not.or(flag.is.true,name.in.("thing 8",x)))').order('id'), `select id from things where name = 'thing 1' or (amount > 8 and not (flag is true or name in ('thing 8', 'x'))) order by id`],
    ['or with quotes, arrays and a path', () => things().select('id').or('odd "na.me, (x).eq.1,name.eq."thing 2",tags.cs.{t3},data->deep->>key-a.eq.v4'.replace('odd "na.me, (x)', '"odd \\"na.me, (x)"')).order('id'), `select id from things where name in ('thing 2', 'thing 3', 'thing 4') order by id`],
    ['filter on a json path', () => things().select('id').eq('data->>n', '5'), `select id from things where name = 'thing 5'`],
    ['order by two, nulls', () => things().select('id').order('flag', { ascending: false, nullsFirst: true }).order('id', { ascending: false }), 'select id from things order by flag desc nulls first, id desc'],
    ['order by a json path, not by the alias of that name', () => things().select('amount:name,name:amount').order('data->n', { ascending: false, nullsFirst: false }).order('amount'), `select name as amount, amount as name from things t order by t.data->'n' desc nulls last, t.amount`],
    ['limit and range', () => things().select('id').order('id').range(2, 4), 'select id from things order by id limit 3 offset 2'],
    ['no rows at all', () => things().select('id').limit(0), 'select id from things limit 0'],
    ['an enum and a fixed length', () => things().select('id').eq('feeling', 'happy').eq('fixed', 'f2'), `select id from things where feeling = 'happy' and fixed = 'f2'`],
    ['a longer text than the column holds', () => things().select('id').eq('code', 'c1toolong'), 'select id from things where false'],
    ['a view', () => client.from('loud_things').select('id,name').order('id'), 'select id, name from loud_things order by id'],
  ] // prettier-ignore

  test.each(cases)('%s', async (_, ask, sql) => {
    const { data, error } = await ask()
    expect(error).toBeNull()
    expect(data).toEqual(await inSql(sql))
  })
})

test('a bigint keeps every digit', async () => {
  const response = await fetch(`${service.url}/things?select=big&name=eq.thing 2&big=eq.9007199254740995`, { headers })
  expect(await response.text()).toBe('[{"big":9007199254740995}]')
})

describe('counts and pages', () => {
  test('an exact count gives the total of a page', async () => {
    const { data, count, status } = await client.from('things').select('id', { count: 'exact' }).order('id').range(0, 3)
    expect(data).toHaveLength(4)
    expect({ count, status }).toEqual({ count: 10, status: 206 })
  })

  test('HEAD counts without a body', async () => {
    const { data, count, status } = await client.from('things').select('*', { count: 'exact', head: true })
    expect({ data, count, status }).toEqual({ data: null, count: 10, status: 200 })
  })

  test('planned and estimated counts are numbers', async () => {
    const planned = await client.from('things').select('id', { count: 'planned' })
    expect(planned.error).toBeNull()
    expect(planned.count).toBeTypeOf('number')
    const estimated = await client.from('things').select('id', { count: 'estimated' })
    expect(estimated.count).toBe(10)
  })

  test('a page past the last row is 416 with a reason', async () => {
    const { error, status } = await client.from('things').select('id', { count: 'exact' }).range(50, 60)
    expect(status).toBe(416)
    expect(error).toMatchObject({
      code: 'PGRST103',
      message: 'Requested range not satisfiable',
      details: 'An offset of 50 was requested, but there are only 10 rows.',
    })
  })

  test('the Range header counts rows, and an empty range is rejected', async () => {
    const page = await fetch(`${service.url}/things?select=id&order=id`, { headers: { ...headers, range: '1-2' } })
    expect(page.headers.get('content-range')).toBe('1-2/*')
    expect(await page.json()).toHaveLength(2)
    const wrong = await fetch(`${service.url}/things?select=id`, { headers: { ...headers, range: '5-2' } })
    expect(wrong.status).toBe(416)
  })

  test('no match gives an empty list and an empty range', async () => {
    const response = await fetch(`${service.url}/things?name=eq.none`, { headers })
    expect(response.headers.get('content-range')).toBe('*/*')
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(await response.text()).toBe('[]')
  })

  test('a response holds at most the server’s row limit', async () => {
    const capped = await startRestService({ bounds: { ...DEFAULT_ANSWER_BOUNDS, maxRows: 3 } })
    try {
      await capped.db.admin.query(THINGS_SQL)
      const claims = await capped.db.createPerson()
      await capped.db.admin.query('insert into things (owner) select $1 from generate_series(1, 5)', [claims.sub])
      const found = await (await capped.clientOf(claims)).from('things').select('id', { count: 'estimated' }).limit(100)
      expect(found.data).toHaveLength(3)
      expect(found.count).toBeGreaterThanOrEqual(4)
    } finally {
      await capped.close()
    }
  })
})

describe('a single row', () => {
  test('single returns the row itself', async () => {
    const { data } = await client.from('things').select('name').eq('name', 'thing 1').single()
    expect(data).toEqual({ name: 'thing 1' })
  })

  test.each([
    ['none', 'thing 99', 'The result contains 0 rows'],
    ['several', undefined, 'The result contains 10 rows'],
  ])('single of %s is 406', async (_, name, details) => {
    const query = client.from('things').select('name')
    const { error, status } = await (name === undefined ? query : query.eq('name', name)).single()
    expect(status).toBe(406)
    expect(error).toMatchObject({
      code: 'PGRST116',
      details,
      hint: null,
      message: 'Cannot coerce the result to a single JSON object',
    })
  })

  test('maybeSingle of no row is null', async () => {
    expect(await client.from('things').select('name').eq('name', 'x').maybeSingle()).toMatchObject({
      data: null,
      error: null,
    })
  })

  test('nulls can be stripped', async () => {
    const { data } = await client.from('things').select('name,flag').is('name', null).stripNulls()
    expect(data).toEqual([{}])
  })
})

test('a header selects another exposed schema, and the response names it', async () => {
  await service.db.admin.query(`insert into other.notes values (1, 'x') on conflict do nothing`)
  expect((await client.schema('other').from('notes').select()).data).toEqual([{ id: 1, text: 'x' }])
  const response = await fetch(`${service.url}/notes`, { headers: { ...headers, 'accept-profile': 'other' } })
  expect(response.headers.get('content-profile')).toBe('other')
})

describe('functions', () => {
  test('are called by POST with named arguments and defaults', async () => {
    expect((await client.rpc('add', { a: 1 })).data).toBe(11)
    expect((await client.rpc('add', { a: 1, b: 2 })).data).toBe(3)
  })

  test('are called by GET and HEAD', async () => {
    expect((await client.rpc('add', { a: 5, b: 6 }, { get: true })).data).toBe(11)
    expect((await client.rpc('pairs', {}, { head: true, count: 'exact' })).count).toBe(5)
  })

  test('that return rows can be filtered, ordered and limited', async () => {
    const { data, count } = await client
      .rpc('pairs', {}, { count: 'exact' })
      .select('n,sq:square')
      .gt('n', 1)
      .order('n', { ascending: false })
      .limit(2)
    expect(data).toEqual([
      { n: 5, sq: 25 },
      { n: 4, sq: 16 },
    ])
    expect(count).toBe(4)
    expect(
      (await client.rpc('things_named', { wanted: 'thing 1' }, { get: true }).select('name').single()).data,
    ).toEqual({ name: 'thing 1' })
  })

  test('that return void give 204', async () => {
    expect((await client.rpc('touch')).status).toBe(204)
  })

  test('may write only by POST', async () => {
    const made = await client.rpc('make_thing', { thing_name: 'made' })
    expect(made.data).toMatchObject({ name: 'made', owner: person.sub })
    const refused = await client.rpc('make_thing', { thing_name: 'again' }, { get: true })
    expect(refused.status).toBe(405)
    expect(refused.error?.code).toBe('25006')
    await client.from('things').delete().eq('name', 'made')
  })

  test('take a complete body or variadic arguments', async () => {
    expect((await client.rpc('echo', [1, { a: 2 }] as never)).data).toEqual([1, { a: 2 }])
    const response = await fetch(`${service.url}/rpc/joined?words=a&words=b`, { headers })
    expect(await response.json()).toBe('a-b')
  })

  test('return sets of scalars with every digit', async () => {
    const response = await fetch(`${service.url}/rpc/numbers`, { method: 'POST', headers })
    expect((await response.text()).replaceAll(/\s/g, '')).toBe('[9007199254740993,2]')
  })

  test('see the request settings', async () => {
    const response = await fetch(`${service.url}/rpc/whoami`, {
      headers: { ...headers, 'x-client-info': 'tester', prefer: 'timezone=Europe/Zurich' },
    })
    expect(await response.json()).toEqual({
      method: 'GET',
      path: '/rpc/whoami',
      agent: 'tester',
      uid: person.sub,
      zone: 'Europe/Zurich',
      timeout: '8s',
    })
    expect(response.headers.get('preference-applied')).toBe('timezone=Europe/Zurich')
  })

  test.each([
    ['PT418', 418],
    ['PT404', 404],
    ['P0001', 400],
    ['42501', 403],
    ['53300', 503],
    ['40001', 500],
  ])('that raise %s give %i with every key', async (state, status) => {
    const answer = await client.rpc('refuse', { state })
    expect(answer.status).toBe(status)
    expect(answer.error).toMatchObject({ code: state, message: 'refused', details: 'because', hint: 'ask' })
  })
})
