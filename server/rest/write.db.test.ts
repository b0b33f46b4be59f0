import type { PostgrestClient } from '@supabase/postgrest-js'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Claims } from '#server/database/scope.ts'
import { type RestTestService, startRestService, THINGS_SQL } from '#test/rest-service.ts'

let service: RestTestService
let person: Claims & { sub: string }
let client: PostgrestClient
let headers: Record<string, string>

beforeAll(async () => {
  service = await startRestService({ allowsRollback: true })
  await service.db.admin.query(THINGS_SQL)
  person = await service.db.createPerson()
  client = await service.clientOf(person)
  headers = { ...(await service.headersOf(person)), 'content-type': 'application/json' }
})
afterAll(() => service.close())
beforeEach(async () => {
  await service.db.admin.query('truncate things restart identity; truncate sealed')
})

const stored = async (sql: string) => (await service.db.admin.query<Record<string, unknown>>(sql)).rows
const post = (path: string, body: string, more: Record<string, string> = {}, method = 'POST') =>
  fetch(`${service.url}${path}`, { method, headers: { ...headers, ...more }, body })

describe('insert', () => {
  test('of one row gives 201 without a body', async () => {
    const { data, status, error } = await client.from('things').insert({ name: 'a' })
    expect({ data, status, error }).toEqual({ data: null, status: 201, error: null })
    expect(await stored('select name, owner from things')).toEqual([{ name: 'a', owner: person.sub }])
  })

  test('returns the row if requested', async () => {
    const { data } = await client
      .from('things')
      .insert({ name: 'a', tags: ['x', 'y,"z'], data: { n: [1] }, during: '[1,3)' })
      .select('id,name,tags,data,during,shout')
      .single()
    expect(data).toEqual({ id: 1, name: 'a', tags: ['x', 'y,"z'], data: { n: [1] }, during: '[1,3)', shout: 'A' })
  })

  test('of many rows sets omitted columns to null, or to the default if requested', async () => {
    const rows = [{ name: 'a', feeling: 'sad' }, { name: 'b' }]
    const nulls = await client.from('things').insert(rows).select('name,feeling').order('name')
    expect(nulls.data).toEqual([
      { name: 'a', feeling: 'sad' },
      { name: 'b', feeling: null },
    ])
    const more = [{ name: 'c', id: 70 }, { name: 'd', feeling: 'happy' }, { name: 'e' }]
    const defaults = await client
      .from('things')
      .insert(more, { defaultToNull: false })
      .select('id,name,feeling')
      .order('name', { ascending: false })
    expect(defaults.data).toEqual([
      { id: expect.any(Number) as number, name: 'e', feeling: 'ok' },
      { id: expect.any(Number) as number, name: 'd', feeling: 'happy' },
      { id: 70, name: 'c', feeling: 'ok' },
    ])
    expect(new Set(defaults.data?.map(({ id }: { id: number }) => id)).size).toBe(3)
  })

  test('of an empty list inserts nothing, of an empty object a row of defaults', async () => {
    expect((await client.from('things').insert([]).select()).data).toEqual([])
    expect((await client.from('things').insert({}).select('feeling')).data).toEqual([{ feeling: 'ok' }])
    expect((await post('/things', '[{},{}]')).status).toBe(201)
    expect(await stored('select count(*)::int as n from things')).toEqual([{ n: 3 }])
  })

  test('keeps every digit of a bigint and of a numeric', async () => {
    const response = await post(
      '/things?select=big,amount',
      '{"big": 9223372036854775807, "amount": 12345678901234567890.123456789}',
      { prefer: 'return=representation' },
    )
    expect(await response.text()).toBe('[{"big":9223372036854775807,"amount":12345678901234567890.123456789}]')
    const viaDefaults = await post('/things?columns=big,name&select=big', '[{"big": 9223372036854775807}]', {
      prefer: 'return=representation, missing=default',
    })
    expect(await viaDefaults.text()).toBe('[{"big":9223372036854775807}]')
  })

  test('writes only the given columns and needs no read privilege', async () => {
    expect((await client.from('sealed').insert({ id: 1, note: 'x' })).error).toBeNull()
    expect(
      (
        await client.from('sealed').insert(
          [
            { id: 2, note: 'x' },
            { id: 3, note: 'y' },
          ],
          { defaultToNull: false },
        )
      ).error,
    ).toBeNull()
    expect(await stored('select id, secret, number from sealed order by id')).toEqual([
      { id: 1, secret: 'kept', number: 7 },
      { id: 2, secret: 'kept', number: 7 },
      { id: 3, secret: 'kept', number: 7 },
    ])
    const refused = await client.from('sealed').insert({ id: 4, secret: 'mine' })
    expect(refused.status).toBe(403)
    expect(refused.error?.code).toBe('42501')
    expect((await client.from('sealed').insert({ id: 5 }).select('id')).data).toEqual([{ id: 5 }])
    expect((await client.from('sealed').insert({ id: 6 }).select('secret')).status).toBe(403)
    expect(await stored('select id from sealed where id = 6')).toEqual([])
  })

  test('returns the location with headers-only', async () => {
    const response = await post('/things', '{"name":"a"}', { prefer: 'return=headers-only,count=exact' })
    expect(response.status).toBe(201)
    expect(response.headers.get('location')).toBe('/things?id=eq.1')
    expect(response.headers.get('content-range')).toBe('*/1')
    expect(response.headers.get('preference-applied')).toBe('return=headers-only, count=exact')
    expect(await response.text()).toBe('')
  })

  test('that violates a key, check, type or policy returns PostgreSQL’s error', async () => {
    await client.from('things').insert({ id: 1, name: 'a' })
    const twice = await client.from('things').insert({ id: 1, name: 'b' })
    expect(twice.status).toBe(409)
    expect(twice.error).toMatchObject({
      code: '23505',
      message: 'duplicate key value violates unique constraint "things_pkey"',
      // PostgreSQL does not report the key of a row that a policy may hide.
      details: null,
      hint: null,
    })
    expect((await client.from('conversations').insert({ title: 'x' })).error?.code).toBe('23502')
    expect((await client.from('things').insert({ flag: 'perhaps' })).error?.code).toBe('22P02')
    const other = await service.db.createPerson()
    const stolen = await client.from('things').insert({ owner: other.sub })
    expect(stolen.status).toBe(403)
    expect(stolen.error?.message).toContain('row-level security')
    expect(
      (await client.from('messages').insert({ conversation_id: other.sub, content: 'x', sender_role: 1 })).status,
    ).toBe(403)
  })

  test.each([
    ['no body', '/things', ''],
    ['no json', '/things', '{'],
    ['a bare value', '/things', '"x"'],
    ['objects with different keys and no list of columns', '/things', '[{"name":"a"},{"id":1}]'],
    ['json nested beyond reason', '/things', `{"data":${'['.repeat(2000)}${']'.repeat(2000)}}`],
  ])('of %s is PGRST102', async (_, path, body) => {
    const response = await post(path, body)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ code: 'PGRST102' })
  })

  test('into an unknown column is PGRST204', async () => {
    const { error, status } = await client.from('things').insert({ nam: 'x' })
    expect(status).toBe(400)
    expect(error).toMatchObject({
      code: 'PGRST204',
      message: "Could not find the 'nam' column of 'things' in the schema cache",
    })
  })

  test('of a content type other than JSON is rejected', async () => {
    const response = await post('/things', 'name\na', { 'content-type': 'text/csv' })
    expect(await response.json()).toMatchObject({ code: 'PGRST102', message: 'Content-Type not acceptable: text/csv' })
  })
})

describe('upsert', () => {
  test('merges by the primary key: 201 where a row is new, 200 where none is', async () => {
    const made = await client.from('things').upsert({ id: 5, name: 'a', amount: 1 })
    expect(made.status).toBe(201)
    const merged = await client.from('things').upsert({ id: 5, name: 'b' }).select('id,name,amount')
    expect(merged).toMatchObject({ status: 200, data: [{ id: 5, name: 'b', amount: 1 }] })
    const both = await client
      .from('things')
      .upsert([
        { id: 5, name: 'c' },
        { id: 6, name: 'd' },
      ])
      .select('name')
      .order('name')
    expect(both).toMatchObject({ status: 201, data: [{ name: 'c' }, { name: 'd' }] })
  })

  test('ignores existing rows', async () => {
    await client.from('things').insert({ id: 5, name: 'a' })
    const { data } = await client
      .from('things')
      .upsert(
        [
          { id: 5, name: 'b' },
          { id: 6, name: 'c' },
        ],
        { ignoreDuplicates: true },
      )
      .select('id,name')
    expect(data).toEqual([{ id: 6, name: 'c' }])
    expect(await stored('select name from things order by id')).toEqual([{ name: 'a' }, { name: 'c' }])
  })

  test('merges by another unique key', async () => {
    await client.from('things').insert({ name: 'a', amount: 1 })
    const { data } = await client
      .from('things')
      .upsert({ owner: person.sub, name: 'a', amount: 2 }, { onConflict: 'owner,name' })
      .select('id,amount')
    expect(data).toEqual([{ id: 1, amount: 2 }])
  })

  test('does not change another person’s row', async () => {
    const other = await service.db.createPerson()
    await (await service.clientOf(other)).from('things').insert({ id: 9, name: 'theirs' })
    expect((await client.from('things').upsert({ id: 9, name: 'mine' })).status).toBe(403)
    expect(await stored('select name from things')).toEqual([{ name: 'theirs' }])
  })

  test('needs no privilege to update the key', async () => {
    const settings = { owner: person.sub, preferences: { theme: 'dark' } }
    expect((await client.from('user_settings').upsert(settings)).error).toBeNull()
    expect((await client.from('user_settings').upsert({ ...settings, preferences: {} })).error).toBeNull()
    expect(await stored('select preferences from user_settings')).toEqual([{ preferences: {} }])
  })

  test('by columns without a unique key is rejected', async () => {
    expect((await client.from('things').upsert({ name: 'a' }, { onConflict: 'amount' })).error?.code).toBe('42P10')
    expect((await client.from('things').upsert({ name: 'a' }, { onConflict: 'nope' })).error?.code).toBe('42703')
  })
})

describe('update and delete', () => {
  beforeEach(async () => {
    await client.from('things').insert([{ name: 'a' }, { name: 'b' }, { name: 'c' }])
  })

  test('change only the rows that match the filters', async () => {
    const { status, data } = await client
      .from('things')
      .update({ amount: 3, data: { x: null } })
      .in('name', ['a', 'b'])
    expect({ status, data }).toEqual({ status: 204, data: null })
    expect(await stored('select name, amount, data from things order by id')).toEqual([
      { name: 'a', amount: '3', data: { x: null } },
      { name: 'b', amount: '3', data: { x: null } },
      { name: 'c', amount: null, data: null },
    ])
  })

  test('return rows with aliases and in order', async () => {
    const { data, status, count } = await client
      .from('things')
      .update({ amount: 3 }, { count: 'exact' })
      .neq('name', 'b')
      .select('label:name,amount')
      .order('name', { ascending: false })
    expect({ data, status, count }).toEqual({
      status: 200,
      count: 2,
      data: [
        { label: 'c', amount: 3 },
        { label: 'a', amount: 3 },
      ],
    })
    const gone = await client.from('things').delete({ count: 'exact' }).eq('name', 'a').select('name')
    expect(gone).toMatchObject({ data: [{ name: 'a' }], status: 200, count: 1 })
  })

  test('of no row are no errors', async () => {
    expect((await client.from('things').update({ amount: 1 }).eq('name', 'x')).status).toBe(204)
    expect(await client.from('things').update({ amount: 1 }).eq('name', 'x').select()).toMatchObject({
      data: [],
      status: 200,
    })
    expect((await client.from('things').delete().eq('name', 'x')).status).toBe(204)
    expect(await client.from('things').update({}).eq('name', 'a').select()).toMatchObject({ data: [], status: 200 })
  })

  test('that do not match exactly one requested row change nothing', async () => {
    const many = await client.from('things').update({ amount: 9 }).neq('name', 'c').select().single()
    expect(many).toMatchObject({ status: 406, error: { code: 'PGRST116', details: 'The result contains 2 rows' } })
    const none = await client.from('things').delete().eq('name', 'x').select().single()
    expect(none.error).toMatchObject({ code: 'PGRST116', details: 'The result contains 0 rows' })
    expect(await stored('select count(*)::int as n from things where amount = 9')).toEqual([{ n: 0 }])
    expect((await client.from('things').update({ amount: 9 }).eq('name', 'c').select('amount').single()).data).toEqual({
      amount: 9,
    })
  })

  test('of more rows than max-affected change nothing', async () => {
    const deleteAtMost = (most: number) =>
      fetch(`${service.url}/things?name=neq.x`, {
        method: 'DELETE',
        headers: { ...headers, prefer: `handling=strict, max-affected=${most}` },
      })
    const refused = await deleteAtMost(2)
    expect(refused.status).toBe(400)
    expect(await refused.json()).toMatchObject({ code: 'PGRST124', details: 'The query affects 3 rows' })
    expect(await stored('select count(*)::int as n from things')).toEqual([{ n: 3 }])
    expect((await deleteAtMost(3)).status).toBe(204)
  })

  test('respect column privileges', async () => {
    await client.from('sealed').insert({ id: 1, note: 'x' })
    expect((await client.from('sealed').update({ note: 'y' }).eq('id', 1)).error).toBeNull()
    expect((await client.from('sealed').update({ number: 1 }).eq('id', 1)).status).toBe(403)
    expect(await stored('select note, number from sealed')).toEqual([{ note: 'y', number: 7 }])
  })

  test('can be rolled back with tx=rollback', async () => {
    const { data, error } = await client.from('things').delete().eq('name', 'a').select('name').rollback()
    expect({ data, error }).toEqual({ data: [{ name: 'a' }], error: null })
    expect(await stored('select count(*)::int as n from things')).toEqual([{ n: 3 }])
  })

  test('list the applied preferences', async () => {
    const response = await post(
      '/things?name=eq.a',
      '{"amount":1}',
      { prefer: 'return=minimal, count=exact, handling=strict, max-affected=5, tx=rollback' },
      'PATCH',
    )
    expect(response.status).toBe(204)
    expect(response.headers.get('preference-applied')).toBe(
      'return=minimal, count=exact, tx=rollback, handling=strict, max-affected=5',
    )
    expect(response.headers.get('content-range')).toBe('0-0/1')
  })

  test('with an unknown preference are rejected only with strict handling', async () => {
    const lenient = await post('/things?name=eq.a', '{"amount":1}', { prefer: 'wibble=wobble' }, 'PATCH')
    expect(lenient.status).toBe(204)
    const strict = await post(
      '/things?name=eq.a',
      '{"amount":2}',
      { prefer: 'handling=strict, wibble=wobble' },
      'PATCH',
    )
    expect(await strict.json()).toMatchObject({ code: 'PGRST122', details: 'Invalid preferences: wibble=wobble' })
  })
})

test('tx=rollback applies only if the operator allows it', async () => {
  const strict = await startRestService()
  try {
    await strict.db.admin.query(THINGS_SQL)
    const other = await strict.clientOf(await strict.db.createPerson())
    await other.from('things').insert({ name: 'a' }).rollback()
    expect((await other.from('things').select('name')).data).toEqual([{ name: 'a' }])
  } finally {
    await strict.close()
  }
})
