import type { PostgrestClient } from '@supabase/postgrest-js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Claims } from '#server/database/scope.ts'
import { filmRowsSql, FILMS_SQL } from '#test/films-sql.ts'
import { DEFAULT_ANSWER_BOUNDS } from './answer-bounds.ts'
import { type RestTestService, startRestService } from '#test/rest-service.ts'

let service: RestTestService
let person: Claims & { sub: string }
let client: PostgrestClient
let headers: Record<string, string>

beforeAll(async () => {
  service = await startRestService()
  await service.db.admin.query(FILMS_SQL)
  const other = await service.db.createPerson()
  person = await service.db.createPerson()
  for (const [owner, offset] of [
    [person, 0],
    [other, 100],
  ] as const) {
    await service.db.database.asUser(owner, (scope) => scope.query(filmRowsSql(offset)))
  }
  // Rows of another person that refer to the caller's rows, and the reverse: neither is embedded.
  await service.db.admin.query(`
    insert into roles (film_id, actor_id, owner, character) values (1, 101, '${other.sub}', 'foreign part');
    insert into films (id, owner, title, director_id) values (900, '${other.sub}', 'foreign film', 1), (901, '${person.sub}', 'film of a foreign director', 101)`)
  client = await service.clientOf(person)
  headers = await service.headersOf(person)
})
afterAll(() => service.close())

/** PostgreSQL's own result for the same person. */
async function inSql(sql: string): Promise<unknown> {
  return service.db.database.asUser(person, async (scope) => {
    const { rows } = await scope.query<{ rows: unknown }>(`select coalesce(json_agg(r), '[]') as rows from (${sql}) r`)
    return rows[0]?.rows
  })
}

const list = (sql: string) => `(select coalesce(json_agg(x), '[]') from (${sql}) x)`
const one = (sql: string) => `(select row_to_json(x) from (${sql}) x)`
const director = (columns: string) => one(`select ${columns} from directors d where d.id = f.director_id`)
const cast = (columns: string) =>
  `select ${columns} from actors a, roles r where r.film_id = f.id and r.actor_id = a.id order by a.id`

describe('the official client embeds the same rows as a join in SQL', () => {
  const films = () => client.from('films')
  const cases: [title: string, ask: () => PromiseLike<{ data: unknown; error: unknown }>, sql: string][] = [
    ['many to one', () => films().select('id,directors(id,name)').order('id'), `select id, ${director('id, name')} as directors from films f order by id`],
    ['all columns on both sides', () => films().select('*,directors(*)').order('id'), `select *, ${director('*')} as directors from films f order by id`],
    ['one to many', () => client.from('directors').select('name,films(id,title)').order('id').order('id', { referencedTable: 'films' }), `select name, ${list('select id, title from films f where f.director_id = d.id order by id')} as films from directors d order by id`],
    ['one to one, from either end', () => films().select('id,specs(camera,films(title))').order('id'), `select id, ${one('select camera, (select row_to_json(y) from (select f.title) y) as films from specs s where s.film_id = f.id')} as specs from films f order by id`],
    ['many to many', () => films().select('id,actors(name)').order('id').order('id', { referencedTable: 'actors' }), `select id, ${list(cast('a.name'))} as actors from films f order by id`],
    ['the joining table itself', () => films().select('id,roles(character,actors(name))').order('id').order('actor_id', { referencedTable: 'roles' }), `select id, ${list('select character, (select row_to_json(y) from (select a.name from actors a where a.id = r.actor_id) y) as actors from roles r where r.film_id = f.id order by actor_id')} as roles from films f order by id`],
    ['under an alias', () => films().select('id,maker:directors(label:name,born::text)').order('id'), `select id, ${director('name as label, born::text')} as maker from films f order by id`],
    ['by the name of the key’s column', () => films().select('id,director_id(name)').order('id'), `select id, ${director('name')} as director_id from films f order by id`],
    ['by the name of the foreign key', () => films().select('id,films_director_id_fkey(name)').order('id'), `select id, ${director('name')} as films_director_id_fkey from films f order by id`],
    ['with a hint: foreign key', () => films().select('id,screenings!shown(id)').order('id').order('id', { referencedTable: 'screenings' }), `select id, ${list('select id from screenings s where s.film_id = f.id order by id')} as screenings from films f order by id`],
    ['with a hint: column', () => films().select('id,lost:screenings!film_id(id),won:screenings!winner_id(id)').order('id').order('id', { referencedTable: 'won' }), `select id, ${list('select id from screenings s where s.film_id = f.id')} as lost, ${list('select id from screenings s where s.winner_id = f.id')} as won from films f order by id`],
    ['with a hint: the joining table', () => films().select('id,actors!roles(name)').order('id').order('id', { referencedTable: 'actors' }), `select id, ${list(cast('a.name'))} as actors from films f order by id`],
    ['by a key of two columns', () => client.from('screenings').select('id,festivals(visitors)').order('id'), `select id, ${one('select visitors from festivals x where x.city = s.city and x.season = s.season')} as festivals from screenings s order by id`],
    ['a table with itself, down', () => client.from('staff').select('name,workers:staff(name)').order('id').order('id', { referencedTable: 'workers' }), `select name, ${list('select name from staff w where w.boss_id = s.id order by id')} as workers from staff s order by id`],
    ['a table with itself, up', () => client.from('staff').select('name,boss_id(name,boss_id(name))').order('id'), `select name, ${one(`select name, (select row_to_json(y) from (select name from staff g where g.id = b.boss_id) y) as boss_id from staff b where b.id = s.boss_id`)} as boss_id from staff s order by id`],
    ['inner: rows without one are left out', () => films().select('id,directors!inner(name)').order('id'), `select id, ${director('name')} as directors from films f where exists (select from directors d where d.id = f.director_id) order by id`],
    ['inner to many', () => client.from('directors').select('id,films!inner(id)').gt('films.year', 1991).order('id').order('id', { referencedTable: 'films' }), `select id, ${list('select id from films f where f.director_id = d.id and year > 1991 order by id')} as films from directors d where exists (select from films f where f.director_id = d.id and year > 1991) order by id`],
    ['a hint and inner, in either order', () => films().select('id,a:screenings!inner!shown(id),b:screenings!shown!inner(id)').order('id'), `select id, ${list('select id from screenings s where s.film_id = f.id')} as a, ${list('select id from screenings s where s.film_id = f.id')} as b from films f where exists (select from screenings s where s.film_id = f.id) order by id`],
    ['a filter on embedded rows leaves the outer ones', () => films().select('id,actors(name)').eq('actors.name', 'actor 2').order('id'), `select id, ${list(`select a.name from actors a, roles r where r.film_id = f.id and r.actor_id = a.id and a.name = 'actor 2'`)} as actors from films f order by id`],
    ['or on embedded rows', () => client.from('directors').select('id,films(id)').or('year.eq.1990,and(rating.gt.5,not.or(id.eq.6,id.eq.7))', { referencedTable: 'films' }).order('id').order('id', { referencedTable: 'films' }), `select id, ${list('select id from films f where f.director_id = d.id and (year = 1990 or (rating > 5 and not (id = 6 or id = 7))) order by id')} as films from directors d order by id`],
    ['order and limit of embedded rows', () => client.from('directors').select('id,films(id)').order('id').order('rating', { referencedTable: 'films', ascending: false }).limit(2, { referencedTable: 'films' }), `select id, ${list('select id from films f where f.director_id = d.id order by rating desc limit 2')} as films from directors d order by id`],
    ['a range of embedded rows', () => client.from('directors').select('id,films(id)').order('id').order('id', { referencedTable: 'films' }).range(1, 2, { referencedTable: 'films' }), `select id, ${list('select id from films f where f.director_id = d.id order by id offset 1 limit 2')} as films from directors d order by id`],
    ['order and filter two levels down', () => client.from('directors').select('id,films(id,roles(character))').order('id').order('id', { referencedTable: 'films' }).order('actor_id', { referencedTable: 'films.roles', ascending: false }).gte('films.roles.actor_id', 2), `select id, ${list(`select id, (select coalesce(json_agg(y), '[]') from (select character from roles r where r.film_id = f.id and actor_id >= 2 order by actor_id desc) y) as roles from films f where f.director_id = d.id order by id`)} as films from directors d order by id`],
    ['outer rows in the order of an embedded column', () => films().select('id,directors(name)').order('directors(born)', { ascending: false, nullsFirst: false }).order('id'), `select id, ${director('name')} as directors from films f order by (select born from directors d where d.id = f.director_id) desc nulls last, id`],
    ['outer rows with an embedded one', () => films().select('id,specs()').not('specs', 'is', null).order('id'), 'select id from films f where exists (select from specs s where s.film_id = f.id) order by id'],
    ['outer rows without an embedded one', () => films().select('id,actors()').is('actors', null).order('id'), 'select id from films f where not exists (select from roles r join actors a on a.id = r.actor_id where r.film_id = f.id) order by id'],
    ['either this embedded row or that', () => films().select('id,specs(),directors()').eq('specs.camera', 'A').eq('directors.name', 'director 2').or('specs.not.is.null,directors.not.is.null').order('id'), `select id from films f where exists (select from specs s where s.film_id = f.id and camera = 'A') or exists (select from directors d where d.id = f.director_id and name = 'director 2') order by id`],
    ['spread, to one', () => films().select('id,...directors(maker:name,born)').order('id'), 'select f.id, d.name as maker, d.born from films f left join directors d on d.id = f.director_id order by f.id'],
    ['spread of all columns', () => client.from('specs').select('camera,...films(*)').order('film_id'), 'select s.camera, f.* from specs s join films f on f.id = s.film_id order by s.film_id'],
    ['spread, to many', () => client.from('directors').select('id,...films(titles:title,year)').order('id').order('id', { referencedTable: 'films' }), `select id, (select coalesce(json_agg(title order by f.id), '[]') from films f where f.director_id = d.id) as titles, (select coalesce(json_agg(year order by f.id), '[]') from films f where f.director_id = d.id) as year from directors d order by id`],
    ['spread within spread', () => client.from('roles').select('character,...films(title,...directors(maker:name))').order('film_id').order('actor_id'), 'select r.character, f.title, d.name as maker from roles r join films f on f.id = r.film_id left join directors d on d.id = f.director_id order by r.film_id, r.actor_id'],
    ['rows that a function returns', () => client.rpc('long_films', { shortest: 85 }).select('id,directors(name)').order('id'), `select id, ${director('name')} as directors from long_films(85) f order by id`],
    ['a path into json and a bigint', () => client.from('directors').select('id,films(data->n,big::text)').order('id').order('id', { referencedTable: 'films' }), `select id, ${list(`select data->'n' as n, big::text from films f where f.director_id = d.id order by id`)} as films from directors d order by id`],
  ] // prettier-ignore

  test.each(cases)('%s', async (_, ask, sql) => {
    const { data, error } = await ask()
    expect(error).toBeNull()
    expect(data).toEqual(await inSql(sql))
    expect(data).not.toEqual([])
  })
})

const ask = (path: string) => fetch(service.url + path, { headers })

test('an embedded bigint keeps every digit and a numeric its scale', async () => {
  const response = await ask('/directors?select=films(big,rating)&id=eq.2&films.id=eq.1')
  expect(await response.text()).toBe('[{"films":[{"big":9007199254740994,"rating":1.10}]}]')
})

test('rows of another person are not embedded', async () => {
  const whole = '*,roles(*,actors(*)),directors(*),actors(*)'
  const { data, error } = await client.from('films').select(whole)
  expect(error).toBeNull()
  expect(data).toHaveLength(13)
  expect(JSON.stringify(data)).not.toContain('foreign part')
  expect(JSON.stringify(data)).not.toContain('"id":101')
  const { data: directors } = await client.from('directors').select('*,films(title)')
  expect(JSON.stringify(directors)).not.toContain('foreign film')
  const { data: lonely } = await client.from('films').select('directors(*),...actors(name)').eq('id', 901).single()
  expect(lonely).toEqual({ directors: null, name: [] })
})

test('a table that the caller may not read cannot be embedded', async () => {
  const response = await ask('/films?select=id,locked(id)')
  expect(response.status).toBe(403)
  expect(await response.json()).toMatchObject({ code: '42501' })
})

test('counts cover the outer rows that the response selects', async () => {
  const { count, data } = await client
    .from('films')
    .select('id,specs!inner(camera)', { count: 'exact' })
    .eq('specs.camera', 'A')
    .limit(1)
  expect({ count, rows: data?.length }).toEqual({ count: 2, rows: 1 })
  const without = await client.from('films').select('id,specs()', { count: 'exact', head: true }).is('specs', null)
  expect(without.count).toBe(7)
  const planned = await client.from('films').select('id,specs!inner(camera)', { count: 'planned' })
  expect(planned.count).toBeTypeOf('number')
})

test('the row limit applies to embedded rows', async () => {
  const limited = await startRestService({ bounds: { ...DEFAULT_ANSWER_BOUNDS, maxRows: 2 } })
  await limited.db.admin.query(FILMS_SQL)
  const owner = await limited.db.createPerson()
  await limited.db.database.asUser(owner, (scope) => scope.query(filmRowsSql(0)))
  const { data } = await (await limited.clientOf(owner)).from('directors').select('films(id)').eq('id', 2)
  expect(data?.[0]?.films).toHaveLength(2)
  await limited.close()
})

describe('writes return embedded relations', () => {
  test('insert', async () => {
    const { data, error } = await client
      .from('films')
      .insert({ id: 20, title: 'new', director_id: 3 })
      .select('title,directors(name),actors(name)')
      .single()
    expect({ data, error }).toEqual({
      data: { title: 'new', directors: { name: 'director 3' }, actors: [] },
      error: null,
    })
  })
  test('update with filters on the row and on embedded rows', async () => {
    const { data } = await client
      .from('directors')
      .update({ name: 'renamed' })
      .eq('id', 4)
      .select('name,films(id)')
      .eq('films.id', 99)
    expect(data).toEqual([{ name: 'renamed', films: [] }])
  })
  test('delete', async () => {
    const { data } = await client.from('films').delete().eq('id', 20).select('id,...directors(name)')
    expect(data).toEqual([{ id: 20, name: 'director 3' }])
  })
})

describe('an impossible embedding is rejected', () => {
  test.each([
    ['a relation that is not there', '/films?select=id,actor(name)', 400, { code: 'PGRST200', message: "Could not find a relationship between 'films' and 'actor' in the schema cache", details: "Searched for a foreign key relationship between 'films' and 'actor' in the schema 'public', but no matches were found.", hint: "Perhaps you meant 'actors' instead of 'actor'." }],
    ['a hint that fits none', '/films?select=id,actors!nope(name)', 400, { code: 'PGRST200', message: "Could not find a relationship between 'films' and 'actors' in the schema cache", details: "Searched for a foreign key relationship between 'films' and 'actors' using the hint 'nope' in the schema 'public', but no matches were found.", hint: null }],
    ['a relation of another schema', '/films?select=id,users(*)', 400, { code: 'PGRST200' }],
    ['one of several', '/films?select=id,screenings(id)', 300, {
      code: 'PGRST201',
      message: "Could not embed because more than one relationship was found for 'films' and 'screenings'",
      details: [
        { embedding: 'films with screenings', cardinality: 'one-to-many', relationship: 'shown using films(id) and screenings(film_id)' },
        { embedding: 'films with screenings', cardinality: 'one-to-many', relationship: 'won using films(id) and screenings(winner_id)' },
      ],
      hint: "Try changing 'screenings' to one of the following: 'screenings!shown', 'screenings!won'. Find the desired relationship in the 'details' key.",
    }],
    ['a column of it that is not there', '/films?select=id,directors(nope)', 400, { code: '42703', message: 'column directors.nope does not exist' }],
    ['a filter on one that is not embedded', '/films?select=id,directors(id)&directors.films.id=eq.1', 400, { code: 'PGRST108', message: "'films' is not an embedded resource in this request" }],
    ['an order by one that is not embedded', '/films?order=directors(name)', 400, { code: 'PGRST108', message: "'directors' is not an embedded resource in this request" }],
    ['an order by one of many', '/films?select=id,actors(name)&order=actors(name)', 400, { code: 'PGRST118', message: "A related order on 'actors' is not possible", details: "'films' and 'actors' do not form a many-to-one or one-to-one relationship" }],
    ['a comparison with a whole relation', '/films?select=id,actors(name)&actors=eq.1', 400, { code: 'PGRST120', message: "Bad operator on the 'actors' embedded resource", details: 'Only is null or not is null filters are allowed on embedded resources' }],
    ['a list that does not end', '/films?select=id,actors(name', 400, { code: 'PGRST100' }],
    ['an aggregate inside', '/films?select=id,actors(count())', 400, { code: 'PGRST123' }],
    ['too deep', `/staff?select=${'boss_id('.repeat(11)}${')'.repeat(11)}`, 400, { code: 'PGRST100' }],
    ['too many', `/films?select=${Array.from({ length: 51 }, (_, index) => `a${index}:actors(id)`).join(',')}`, 400, { code: 'PGRST100' }],
  ])('%s', async (_, path, status, body) => {
    const response = await ask(path)
    expect(await response.json()).toMatchObject(body)
    expect(response.status).toBe(status)
  }) // prettier-ignore
})

test('a foreign key created later works after a reload notification', async () => {
  await service.db.admin.query(
    'create table reviews (id integer primary key, film_id integer); grant select on reviews to authenticated',
  )
  const told = () => new Promise<void>((resolve) => void service.listener.on('pgrst', () => resolve()))
  const first = told()
  await service.db.admin.query(`notify pgrst, 'reload schema'`)
  await first
  expect((await ask('/reviews?select=films(title)')).status).toBe(400)
  await service.db.admin.query('alter table reviews add foreign key (film_id) references films')
  const second = told()
  await service.db.admin.query(`notify pgrst, 'reload schema'`)
  await second
  expect((await ask('/reviews?select=films(title)')).status).toBe(200)
})
