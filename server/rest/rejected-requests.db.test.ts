import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Claims } from '#server/database/scope.ts'
import { type RestTestService, startRestService, THINGS_SQL } from '#test/rest-service.ts'

let service: RestTestService
let person: Claims & { sub: string }
let headers: Record<string, string>
let anonHeaders: Record<string, string>

beforeAll(async () => {
  service = await startRestService()
  await service.db.admin.query(`${THINGS_SQL};
    create function kept(data jsonb) returns jsonb language sql immutable return data;
    grant execute on function kept(jsonb) to authenticated`)
  person = await service.db.createPerson()
  const json = { 'content-type': 'application/json' }
  headers = { ...(await service.headersOf(person)), ...json }
  anonHeaders = { ...(await service.headersOf()), ...json }
})
afterAll(() => service.close())

const restErrorBody = z.strictObject({
  code: z.string(),
  message: z.string(),
  details: z.string().nullable(),
  hint: z.string().nullable(),
})

/** Status and body of a rejection, after checking its four keys and its header. */
async function requestRejection(path: string, init: RequestInit = {}) {
  const response = await fetch(`${service.url}${path}`, { headers, ...init })
  const body = restErrorBody.parse(await response.json())
  expect(response.headers.get('proxy-status')).toBe(`PostgREST; error=${body.code}`)
  return { status: response.status, ...body, headers: response.headers }
}

describe('the caller', () => {
  test.each([
    ['no key', {}],
    ['an opaque key that is not ours', { apikey: 'sb_publishable_x' }],
  ])('with %s is 401', async (_, given) => {
    const rejection = await requestRejection('/things', { headers: given })
    expect(rejection).toMatchObject({ status: 401, code: 'PGRST302' })
    expect(rejection.headers.get('www-authenticate')).toBe('Bearer')
  })

  test('with a key alone has the key’s role', async () => {
    const service_ = await fetch(`${service.url}/things?select=id`, {
      headers: { apikey: service.tokens.serviceRoleKey },
    })
    expect(service_.status).toBe(200)
    expect(await requestRejection('/things', { headers: { apikey: service.tokens.anonKey } })).toMatchObject({
      status: 401,
      code: '42501',
    })
  })

  test('with a bad token is 401, whatever the key', async () => {
    const [head, , signature] = service.tokens.serviceRoleKey.split('.')
    const forged = [
      head,
      Buffer.from(JSON.stringify({ role: 'service_role', exp: 9e9 })).toString('base64url'),
      signature,
    ].join('.')
    const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from('{"role":"service_role","exp":9000000000}').toString('base64url')}.`
    for (const token of [forged, unsigned, 'nonsense']) {
      const rejection = await requestRejection('/things', {
        headers: { apikey: service.tokens.serviceRoleKey, authorization: `Bearer ${token}` },
      })
      expect(rejection).toMatchObject({ status: 401, code: 'PGRST301' })
      expect(rejection.headers.get('www-authenticate')).toMatch(/^Bearer error="invalid_token", error_description=/)
    }
  })

  test('with an expired token gets PGRST303', async () => {
    const now = Math.floor(Date.now() / 1000)
    const token = await service.tokens.sign({
      role: 'authenticated',
      sub: person.sub,
      iat: now - 7200,
      exp: now - 3600,
    })
    const rejection = await requestRejection('/things', {
      headers: { apikey: service.tokens.anonKey, authorization: `Bearer ${token}` },
    })
    expect(rejection).toMatchObject({ status: 401, code: 'PGRST303', message: 'JWT expired' })
    expect(rejection.headers.get('www-authenticate')).toBe(
      'Bearer error="invalid_token", error_description="JWT expired"',
    )
  })

  test('with an unsupported role is 401', async () => {
    for (const role of ['authenticator', 'postgres', 'supabase_auth_admin']) {
      const token = await service.tokens.sign({ role, exp: Math.floor(Date.now() / 1000) + 60 })
      expect((await requestRejection('/things', { headers: { authorization: `Bearer ${token}` } })).status).toBe(401)
    }
  })
})

describe('unknown names', () => {
  test.each([
    ['a table, with a hint', '/thing', 404, 'PGRST205', "Could not find the table 'public.thing' in the schema cache", "Perhaps you meant the table 'public.things'"],
    ['a table like none', '/zzz', 404, 'PGRST205', "Could not find the table 'public.zzz' in the schema cache", null],
    ['a table of PostgreSQL’s own', '/pg_authid', 404, 'PGRST205', "Could not find the table 'public.pg_authid' in the schema cache", null],
    ['a table of a schema that is not exposed', '/auth.users', 404, 'PGRST205', "Could not find the table 'public.auth.users' in the schema cache", null],
    ['a selected column', '/things?select=nope', 400, '42703', 'column things.nope does not exist', null],
    ['a system column', '/things?select=xmin', 400, '42703', 'column things.xmin does not exist', null],
    ['a filtered column', '/things?nope=eq.1', 400, '42703', 'column things.nope does not exist', null],
    ['a column to order by', '/things?order=nope', 400, '42703', 'column things.nope does not exist', null],
    ['a type', '/things?select=id::nope', 400, '42704', 'type "nope" does not exist', null],
    ['a relation to embed', '/things?select=id,owners(name)', 400, 'PGRST200', "Could not find a relationship between 'things' and 'owners' in the schema cache", null],
    ['a hinted relation', '/things?select=x:owners!inner(name,more(*))', 400, 'PGRST200', "Could not find a relationship between 'things' and 'owners' in the schema cache", null],
    ['a filter on a relation', '/things?owners.name=eq.x', 400, 'PGRST108', "'owners' is not an embedded resource in this request", "Verify that 'owners' is included in the 'select' query parameter."],
    ['a function', '/rpc/nope?x=1', 404, 'PGRST202', 'Could not find the function public.nope(x) in the schema cache', null],
    ['a function with these parameters', '/rpc/add?c=1', 404, 'PGRST202', 'Could not find the function public.add(c) in the schema cache', null],
    ['a trigger function', '/rpc/tg_messages__enqueue_reply', 404, 'PGRST202', 'Could not find the function public.tg_messages__enqueue_reply without parameters in the schema cache', null],
    ['no path at all', '/', 404, 'PGRST125', 'Invalid path specified in request URL', null],
    ['a path', '/a/b', 404, 'PGRST125', 'Invalid path specified in request URL', null],
    ['an aggregate', '/things?select=id.sum()', 400, 'PGRST123', 'Use of aggregate functions is not allowed', null],
  ])('%s', async (_, path, status, code, message, hint) => {
    expect(await requestRejection(path)).toMatchObject({ status, code, message, hint })
  }) // prettier-ignore

  test('a schema that is not exposed', async () => {
    const asked = { headers: { ...headers, 'accept-profile': 'auth' } }
    expect(await requestRejection('/users', asked)).toMatchObject({
      status: 406,
      code: 'PGRST106',
      message: 'Invalid schema: auth',
      hint: 'Only the following schemas are exposed: public',
    })
  })

  test('a table created later is found after a reload notification', async () => {
    await requestRejection('/latecomers')
    await service.db.admin.query('create table latecomers (id integer); grant select on latecomers to authenticated')
    const told = new Promise<void>((resolve) => void service.listener.on('pgrst', () => resolve()))
    await service.db.admin.query(`notify pgrst, 'reload schema'`)
    await told
    expect((await fetch(`${service.url}/latecomers`, { headers })).status).toBe(200)
  })
})

describe('unsupported requests', () => {
  test.each([
    ['an unknown operator', '/things?id=equals.1', 400, 'PGRST100'],
    ['no operator', '/things?id=1', 400, 'PGRST100'],
    ['is of something else', '/things?flag=is.maybe', 400, 'PGRST100'],
    ['an open parenthesis', '/things?or=(id.eq.1', 400, 'PGRST100'],
    ['an empty list of conditions', '/things?or=()', 400, 'PGRST100'],
    ['a wrong order', '/things?order=id.up', 400, 'PGRST100'],
    ['a limit that is no number', '/things?limit=many', 400, 'PGRST100'],
    ['a negative limit', '/things?limit=-1', 416, 'PGRST103'],
    ['a negative offset', '/things?offset=-1', 400, '2201X'],
    ['too many columns', `/things?select=${'id,'.repeat(1700)}id`, 400, 'PGRST100'],
    ['an invalid value of the type', '/things?id=eq.x', 400, '22P02'],
    ['a number that is too large', '/things?id=eq.99999999999999999999', 400, '22003'],
    ['an operator that the type lacks', '/things?flag=like.x', 404, '42883'],
    ['a broken pattern', '/things?name=match.(', 400, '2201B'],
    ['a broken text search', '/things?name=fts.a%20b', 400, '42601'],
    ['an unknown language', '/things?name=fts(klingon).a', 400, '42704'],
    ['an order by json', '/things?order=plain', 404, '42883'],
    ['a zero byte', '/things?name=eq.%00', 400, '22021'],
  ])('%s', async (_, path, status, code) => {
    expect(await requestRejection(path)).toMatchObject({ status, code })
  })

  test.each(['text/csv', 'application/geo+json', 'application/vnd.pgrst.plan+json', 'image/png'])(
    '%s as the response type',
    async (accept) => {
      expect(await requestRejection('/things', { headers: { ...headers, accept } })).toMatchObject({
        status: 406,
        code: 'PGRST107',
        message: `None of these media types are available: ${accept}`,
      })
    },
  )

  test('rejects other methods', async () => {
    expect(await requestRejection('/things', { method: 'PUT', body: '{}' })).toMatchObject({
      status: 405,
      code: 'PGRST117',
    })
    expect(await requestRejection('/rpc/add', { method: 'DELETE' })).toMatchObject({ status: 405, code: 'PGRST101' })
  })

  test('rejects a body nested deeper than PostgreSQL parses', async () => {
    const nested = (depth: number) => `{"data":${'['.repeat(depth)}${']'.repeat(depth)}}`
    for (const path of ['/things', '/rpc/echo']) {
      expect(await requestRejection(path, { method: 'POST', body: nested(100_000) })).toMatchObject({
        status: 400,
        code: 'PGRST102',
        message: 'The json is nested too deeply',
      })
    }
  })

  test.each([
    ['a body', '/things', { method: 'POST', body: '{"data": {"a": [1e131071, 1e131071]}}' }],
    ['rows', '/things', { method: 'POST', body: '[{"id": 1}, {"id": 1e-16383}]' }],
    ['arguments', '/rpc/echo', { method: 'POST', body: '{"data": 1e131071}' }],
    ['an argument in the address', '/rpc/kept?data={"a":[1e131071]}', {}],
  ])('rejects numbers that PostgreSQL would write out as a hundred thousand digits, in %s', async (_, path, init) => {
    expect(await requestRejection(path, init)).toMatchObject({
      status: 400,
      code: 'PGRST102',
      message: 'The json holds a number whose exponent is beyond 400',
    })
  })

  test('rejects a body over the limit', async () => {
    const body = JSON.stringify({ name: 'x'.repeat(1_100_000) })
    expect((await requestRejection('/things', { method: 'POST', body })).status).toBe(413)
  })
})

test('a page of another origin may call and can read the count', async () => {
  const preflight = await fetch(`${service.url}/things`, {
    method: 'OPTIONS',
    headers: {
      origin: 'https://elsewhere.example',
      'access-control-request-method': 'PATCH',
      'access-control-request-headers': 'apikey,prefer,x-retry-count',
    },
  })
  expect(preflight.status).toBe(200)
  expect(preflight.headers.get('access-control-allow-origin')).toBe('*')
  expect(preflight.headers.get('access-control-allow-methods')).toContain('PATCH')
  for (const name of ['authorization', 'apikey', 'prefer', 'content-profile', 'x-retry-count']) {
    expect(preflight.headers.get('access-control-allow-headers')).toContain(name)
  }
  for (const path of ['/things', '/nowhere']) {
    const response = await fetch(`${service.url}${path}`, {
      headers: { ...headers, origin: 'https://elsewhere.example' },
    })
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    expect(response.headers.get('access-control-expose-headers')).toContain('Content-Range')
    await response.text()
  }
})

describe('injection', () => {
  const hostile = [
    `id";drop table things;--`,
    `id'--`,
    `id) from pg_authid--`,
    `(select rolpassword from pg_authid)`,
    `id"`,
    `\\`,
    `$1`,
    `things.*`,
    `*`,
    `id::text)||(select 'x'`,
    `pg_sleep(9)`,
  ]
  const places: [string, (text: string) => string][] = [
    ['select', (text) => `/things?select=${text}`],
    ['select, quoted', (text) => `/things?select="${text.replaceAll('"', '\\"')}"`],
    ['alias', (text) => `/things?select="${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}":id`],
    ['cast', (text) => `/things?select=id::${text}`],
    ['json key', (text) => `/things?select=data->"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`],
    ['json path in a filter', (text) => `/things?data->>${text}=eq.1`],
    ['filter column', (text) => `/things?${encodeURIComponent(text)}=eq.1`],
    ['filter value', (text) => `/things?name=eq.${text}`],
    ['list value', (text) => `/things?name=in.(${text})`],
    ['language', (text) => `/things?name=fts(${text}).x`],
    ['order', (text) => `/things?order=${text}`],
    ['order direction', (text) => `/things?order=id.${text}`],
    ['limit', (text) => `/things?limit=${text}`],
    ['logic', (text) => `/things?or=(id.eq.1,${text})`],
    ['table', (text) => `/${encodeURIComponent(text)}`],
    ['function', (text) => `/rpc/${encodeURIComponent(text)}`],
    ['argument', (text) => `/rpc/add?${encodeURIComponent(text)}=1`],
  ]

  test.each(places)('through %s is rejected or harmless', async (_, pathOf) => {
    for (const text of hostile) {
      const response = await fetch(`${service.url}${pathOf(text).replaceAll('#', '%23')}`, { headers })
      const body = await response.text()
      expect(response.status, text).toBeLessThan(500)
      if (response.status === 200) expect(body).toBe('[]')
    }
    expect((await service.db.admin.query(`select to_regclass('things') as there`)).rows).toEqual([{ there: 'things' }])
  })

  test.each(['columns', 'on_conflict'])('through %s is rejected', async (parameter) => {
    for (const text of hostile) {
      const response = await fetch(
        `${service.url}/things?${parameter}="${encodeURIComponent(text.replaceAll('\\', '\\\\').replaceAll('"', '\\"'))}"`,
        {
          method: 'POST',
          headers: { ...headers, prefer: 'resolution=merge-duplicates' },
          body: '{"name":"x"}',
        },
      )
      expect(restErrorBody.parse(await response.json()).code, text).toMatch(/^(PGRST204|42703)$/)
    }
  })

  test('through a header is rejected or harmless', async () => {
    const given = {
      ...headers,
      prefer: `timezone=x';drop table things;--, count=exact`,
      'accept-profile': `public"; drop table things;--`,
    }
    expect(await requestRejection('/things', { headers: given })).toMatchObject({ code: 'PGRST106' })
    const { 'accept-profile': _, ...others } = given
    expect((await fetch(`${service.url}/things`, { headers: others })).status).toBe(200)
  })
})

describe('every table, for another person and for an anonymous caller', () => {
  /** Tables whose rows belong to one person, found by their owner column. */
  async function tables(): Promise<string[]> {
    const { rows } = await service.db.admin.query<{ name: string }>(
      `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'v', 'm', 'p') order by 1`,
    )
    return rows.map(({ name }) => name)
  }

  test('shows another person no row, and an anonymous caller nothing', async () => {
    const owner = await service.db.createPerson()
    const conversation = randomUUID()
    const client = await service.clientOf(owner)
    expect(
      (await client.from('conversations').insert({ id: conversation, title: 'mine', model_name: 'alcove-reader' }))
        .error,
    ).toBeNull()
    expect(
      (await client.from('messages').insert({ conversation_id: conversation, content: 'secret', sender_role: 1 }))
        .error,
    ).toBeNull()
    expect((await client.from('user_settings').insert({ preferences: { secret: true } })).error).toBeNull()
    expect((await client.from('things').insert({ name: 'secret' })).error).toBeNull()
    await service.db.admin.query(
      `insert into documents (owner, filename, originalname, mimetype, size, path, sha256) values ($1, 'a', 'a', 'text/plain', 1, 'x', 'y')`,
      [owner.sub],
    )
    const stranger = await service.headersOf(await service.db.createPerson())
    const open = new Set(['models', 'quotas', 'latecomers', 'sealed'])

    for (const table of await tables()) {
      const seen = await fetch(`${service.url}/${table}?select=*`, { headers: stranger })
      const text = await seen.text()
      if (!open.has(table))
        expect([text, seen.status], table).toSatisfy(([body, status]) => body === '[]' || status === 403)
      const asNobody = await fetch(`${service.url}/${table}?select=*`, { headers: anonHeaders })
      expect([table, asNobody.status]).toEqual([table, 401])
      await asNobody.text()
      for (const method of ['POST', 'PATCH', 'DELETE']) {
        const tried = await fetch(`${service.url}/${table}`, {
          method,
          headers: anonHeaders,
          ...(method === 'DELETE' ? {} : { body: '{}' }),
        })
        // Without privileges a successful update of no row changes nothing either.
        expect(tried.status === 401 || (method === 'PATCH' && tried.status !== 200), `${method} ${table}`).toBe(true)
        await tried.text()
      }
    }
    const mine = await client.from('conversations').select('id')
    expect(mine.data).toEqual([{ id: conversation }])
  })

  test('lets another person change and delete nothing', async () => {
    const owner = await service.db.createPerson()
    const id = randomUUID()
    await (
      await service.clientOf(owner)
    )
      .from('conversations')
      .insert({ id, title: 'mine', model_name: 'alcove-reader' })
    const stranger = await service.clientOf(await service.db.createPerson())
    expect((await stranger.from('conversations').update({ title: 'theirs' }).eq('id', id).select()).data).toEqual([])
    expect((await stranger.from('conversations').delete().eq('id', id).select()).data).toEqual([])
    expect((await stranger.from('messages').insert({ conversation_id: id, content: 'x', sender_role: 1 })).status).toBe(
      403,
    )
    const { rows } = await service.db.admin.query('select title from conversations where id = $1', [id])
    expect(rows).toEqual([{ title: 'mine' }])
  })

  test('keeps two people on one connection apart even after failed statements', async () => {
    const one = await service.db.createPerson()
    const two = await service.db.createPerson()
    const clients = [await service.clientOf(one), await service.clientOf(two)]
    await Promise.all(clients.map((client, index) => client.from('things').insert({ name: `of ${index}` })))
    const answers = await Promise.all(
      Array.from({ length: 40 }, async (_, round) => {
        const query = clients[round % 2]?.from('things').select('name')
        return round % 5 === 0 ? await query?.eq('id', 'broken') : await query
      }),
    )
    answers.forEach((answer, round) => {
      if (round % 5 === 0) expect(answer?.status).toBe(400)
      else expect(answer?.data).toEqual([{ name: `of ${round % 2}` }])
    })
  })
})

describe('a pattern that costs too much', () => {
  test.each([
    ['a filter', '/things?select=id&name=match.(a*)*%5C1', 'refers back'],
    ['a negated filter', '/things?select=id&name=not.imatch.a%7B0,240%7Db', 'written out'],
    ['a list of patterns', '/things?select=id&name=match(any).%7Bx,%22(a)%5C%5C1%22%7D', 'refers back'],
    ['a tree', '/things?select=id&or=(id.eq.1,and(name.match."(?=.*a)b",id.eq.2))', 'looks ahead'],
    ['an embedded tree', '/things?select=id&not.and=(name.match."(?=.*a)b",id.eq.2)', 'looks ahead'],
    ['a LIKE', `/things?select=id&name=ilike.${'*b'.repeat(60)}`, 'wildcards'],
    ['a text search', `/things?select=id&words=wfts.${'a%20'.repeat(600)}`, 'longer'],
    ['a field of JSON', '/things?select=id&data->>a=match.(a*)*%5C1', 'refers back'],
    ['rows of a function', '/rpc/things_named?wanted=x&name=match.(a*)*%5C1', 'refers back'],
  ])('in %s is rejected before it runs', async (_, path, why) => {
    const rejection = await requestRejection(path)
    expect(rejection).toMatchObject({
      status: 400,
      code: 'PGRST100',
      message: 'A pattern of the filter is too complex',
    })
    expect(rejection.details).toContain(why)
  })

  test.each(['PATCH', 'DELETE'])('in the filter of a %s is rejected before it runs', async (method) => {
    const body = method === 'PATCH' ? { body: '{"flag":true}' } : {}
    const rejection = await requestRejection('/things?name=match.(a*)*%5C1', { method, ...body })
    expect(rejection).toMatchObject({ status: 400, code: 'PGRST100' })
  })

  test('ordinary patterns match as PostgreSQL matches them', async () => {
    const made = await fetch(`${service.url}/things`, {
      method: 'POST',
      headers,
      body: JSON.stringify([{ name: 'report-2024-11' }, { name: 'draft' }]),
    })
    expect(made.status).toBe(201)
    const found = await fetch(`${service.url}/things?select=name&name=match.%5Ereport-%5Cd%7B4%7D-%5Cd%7B2%7D$`, {
      headers,
    })
    expect(await found.json()).toEqual([{ name: 'report-2024-11' }])
  })
})
