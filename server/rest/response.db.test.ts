/** Functions that set the response: its status, its headers, or a complete error. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RestTestService, startRestService } from '#test/rest-service.ts'

let service: RestTestService
let headers: Record<string, string>

beforeAll(async () => {
  service = await startRestService()
  await service.db.admin.query(`
    create function say(status text, headers text, for_good boolean default false) returns text language plpgsql as $$
    begin
      perform set_config('response.status', status, not for_good), set_config('response.headers', headers, not for_good);
      return 'said';
    end $$;
    create function refuse_whole(message text, detail text) returns void language plpgsql as $$
    begin raise sqlstate 'PGRST' using message = message, detail = detail; end $$;
    create table said (id integer primary key);
    grant select, insert on said to authenticated;
    create function mark_said() returns trigger language plpgsql as $$
    begin perform set_config('response.headers', '[{"X-Marked": "yes"}]', true); return new; end $$;
    create trigger mark before insert on said for each row execute function mark_said();
    grant execute on function say(text, text, boolean), refuse_whole(text, text) to authenticated`)
  headers = await service.headersOf(await service.db.createPerson())
})
afterAll(() => service.close())

const call = (name: string, args: Record<string, unknown>, path = `/rpc/${name}`) =>
  fetch(`${service.url}${path}`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(args),
  })

test('a function sets the status and headers of the response, one header twice', async () => {
  const said =
    '[{"Cache-Control": "public"}, {"Set-Cookie": "a=1"}, {"Set-Cookie": "b=2"}, {"Content-Type": "text/x-said"}]'
  const answer = await call('say', { status: '418', headers: said })
  expect(answer.status).toBe(418)
  expect(answer.headers.get('cache-control')).toBe('public')
  expect(answer.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
  expect(answer.headers.get('content-type')).toBe('text/x-said')
  expect(await answer.text()).toBe('"said"')
  expect((await call('say', { status: '204', headers: '[]' })).status).toBe(204)
})

test('a trigger sets the status and headers of a write', async () => {
  const answer = await call('', { id: 1 }, '/said')
  expect([answer.status, answer.headers.get('x-marked')]).toEqual([201, 'yes'])
})

test('settings of one response do not affect the next one', async () => {
  for (let n = 0; n < 5; n += 1)
    expect((await call('say', { status: '418', headers: '[{"X-Said": "1"}]', for_good: true })).status).toBe(418)
  for (let n = 0; n < 25; n += 1) {
    const answer = await fetch(`${service.url}/said`, { headers })
    expect([answer.status, answer.headers.get('x-said')]).toEqual([200, null])
  }
})

test.each([
  ['999', '[]', 'PGRST112', 'response.status guc must be a valid status code'],
  ['teapot', '[]', 'PGRST112', 'response.status guc must be a valid status code'],
  ...['{}', '[{"a": "1", "b": "2"}]', '[{"a": 1}]', '[{"a b": "1"}]', '[{"a": "x\\r\\ny: z"}]', 'no json'].map(
    (given) => [
      '200',
      given,
      'PGRST111',
      'response.headers guc must be a JSON array composed of objects with a single key and a string value',
    ],
  ),
])('a status %s with headers %s is malformed', async (status, given, code, message) => {
  const answer = await call('say', { status, headers: given })
  expect(answer.status).toBe(500)
  expect(await answer.json()).toMatchObject({ code, message })
})

test('a raised PGRST error sets its own status, headers and code', async () => {
  const answer = await call('refuse_whole', {
    message: '{"code": "123", "message": "Payment Required", "details": "Quota exceeded", "hint": "Upgrade your plan"}',
    detail: '{"status": 402, "headers": {"X-Powered-By": "Nerd Rage"}}',
  })
  expect(answer.status).toBe(402)
  expect(answer.headers.get('x-powered-by')).toBe('Nerd Rage')
  expect(await answer.json()).toEqual({
    code: '123',
    message: 'Payment Required',
    details: 'Quota exceeded',
    hint: 'Upgrade your plan',
  })
})

test.each([
  ['MESSAGE', 'no json', '{"status": 402, "headers": {}}'],
  ['MESSAGE', '{"code": "1"}', '{"status": 402, "headers": {}}'],
  ['DETAIL', '{"code": "1", "message": "m"}', '{"status": 402}'],
  ['DETAIL', '{"code": "1", "message": "m"}', '{"status": 99, "headers": {}}'],
])('a raised PGRST error with a malformed %s is PGRST121', async (part, message, detail) => {
  const answer = await call('refuse_whole', { message, detail })
  expect(answer.status).toBe(500)
  expect(await answer.json()).toMatchObject({
    code: 'PGRST121',
    message: `Could not parse JSON in the "RAISE SQLSTATE 'PGRST'" error`,
    details: `Invalid JSON value for ${part}: '${part === 'MESSAGE' ? message : detail}'`,
  })
})
