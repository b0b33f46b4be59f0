/** Overload resolution of function calls. */
import type { PostgrestClient } from '@supabase/postgrest-js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RestTestService, startRestService } from '#test/rest-service.ts'

let service: RestTestService
let client: PostgrestClient

beforeAll(async () => {
  service = await startRestService()
  await service.db.admin.query(`
    create function public.either(boolean) returns text language sql as $$ select 'boolean' $$;
    create function public.either(text) returns text language sql as $$ select 'text' $$;
    create function public.whole(jsonb) returns jsonb language sql as $$ select $1 -> 'a' $$;
    create function public.no_way(integer) returns integer language sql as $$ select 1 $$;
    create function public.perhaps() returns integer language sql as $$ select 1 $$;
    create function public.perhaps(text default '') returns text language sql as $$ select 'foo' $$;
    create function public.typed(a text) returns text language sql as $$ select 'text' $$;
    create function public.typed(a integer) returns text language sql as $$ select 'integer' $$;
    create function public.greet(given text, family text default '') returns text language sql
      as $$ select given || ' ' || family $$;
    grant execute on all functions in schema public to authenticated`)
  client = await service.clientOf(await service.db.createPerson())
})
afterAll(() => service.close())

test('a single unnamed parameter takes the complete body if its type allows it', async () => {
  expect(await client.rpc('either', { '': 'x' })).toMatchObject({ data: 'text', error: null })
  expect(await client.rpc('whole', { a: 5 })).toMatchObject({ data: 5, error: null })
  expect(await client.rpc('no_way', { '': 1 })).toMatchObject({
    status: 404,
    error: {
      code: 'PGRST202',
      message: 'Could not find the function public.no_way() in the schema cache',
      details:
        'Searched for the function public.no_way with parameter  or with a single unnamed json/jsonb parameter, but no matches were found in the schema cache.',
    },
  })
})

test('an ambiguous call lists the candidates in order', async () => {
  const between = 'Could not choose the best candidate function between: '
  expect(await client.rpc('typed', { a: 1 })).toMatchObject({
    status: 300,
    error: { code: 'PGRST203', message: `${between}public.typed(a => integer), public.typed(a => text)` },
  })
  expect(await client.rpc('perhaps')).toMatchObject({
    status: 300,
    error: { code: 'PGRST203', message: `${between}public.perhaps(), public.perhaps( => text)` },
  })
})

test('a misspelt call gets a hint', async () => {
  expect((await client.rpc('greets', { given: 'Ada' })).error?.hint).toBe(
    'Perhaps you meant to call the function public.greet',
  )
  expect((await client.rpc('greet', { givn: 'Ada', family: 'L' })).error?.hint).toBe(
    'Perhaps you meant to call the function public.greet(given, family)',
  )
  expect((await client.rpc('nothing_like_it')).error?.hint).toBeNull()
})

test('a hint never names the called signature itself', async () => {
  for (const call of [client.rpc('no_way', { a: 1 }), client.rpc('no_way'), client.rpc('whole', {}, { get: true })]) {
    expect((await call).error).toMatchObject({ code: 'PGRST202', hint: null })
  }
})
