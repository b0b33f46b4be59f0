import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Claims } from '#server/database/scope.ts'
import { filmRowsSql, FILMS_SQL } from '#test/films-sql.ts'
import { type RestTestService, startRestService } from '#test/rest-service.ts'

let service: RestTestService
let person: Claims & { sub: string }
let headers: Record<string, string>

beforeAll(async () => {
  service = await startRestService()
  await service.db.admin.query(FILMS_SQL)
  const other = await service.db.createPerson()
  person = await service.db.createPerson()
  headers = await service.headersOf(person)
  await service.db.database.asUser(person, (scope) => scope.query(filmRowsSql(0)))
  await service.db.database.asUser(other, (scope) => scope.query(filmRowsSql(100)))
  await service.db.admin.query(`insert into roles (film_id, actor_id, owner) values (1, 101, '${other.sub}')`)
})
afterAll(() => service.close())

type Table = 'directors' | 'films' | 'specs' | 'actors' | 'roles' | 'staff' | 'festivals' | 'screenings'

const COLUMNS: Record<Table, { key: readonly string[]; others: readonly string[] }> = {
  directors: { key: ['id'], others: ['name', 'born'] },
  films: { key: ['id'], others: ['title', 'year', 'rating', 'big', 'data', 'director_id'] },
  specs: { key: ['film_id'], others: ['camera', 'minutes'] },
  actors: { key: ['id'], others: ['name'] },
  roles: { key: ['film_id', 'actor_id'], others: ['character'] },
  staff: { key: ['id'], others: ['name', 'boss_id'] },
  festivals: { key: ['city', 'season'], others: ['visitors'] },
  screenings: { key: ['id'], others: ['city', 'season', 'film_id', 'winner_id'] },
}

interface Way {
  /** Name in the request. */
  readonly rest: string
  readonly target: Table
  readonly isToOne: boolean
  /** SQL that joins the target rows (`far`) to `near`, up to the conditions. */
  readonly sql: (near: string, far: string) => string
}

/** Name in filters without an alias; unique within one level. */
const relationOf = (rest: string) => rest.replace(/!.*/, '')

const way = (rest: string, target: Table, isToOne: boolean, sql: Way['sql']): Way => ({ rest, target, isToOne, sql })

const WAYS: Record<Table, readonly Way[]> = {
  directors: [way('films', 'films', false, (near, far) => `where ${far}.director_id = ${near}.id`)],
  films: [
    way('directors', 'directors', true, (near, far) => `where ${far}.id = ${near}.director_id`),
    way('director_id', 'directors', true, (near, far) => `where ${far}.id = ${near}.director_id`),
    way('specs', 'specs', true, (near, far) => `where ${far}.film_id = ${near}.id`),
    way('roles', 'roles', false, (near, far) => `where ${far}.film_id = ${near}.id`),
    way('actors', 'actors', false, (near, far) => `join roles on roles.actor_id = ${far}.id where roles.film_id = ${near}.id`),
    way('screenings!won', 'screenings', false, (near, far) => `where ${far}.winner_id = ${near}.id`),
    way('screenings!film_id', 'screenings', false, (near, far) => `where ${far}.film_id = ${near}.id`),
  ],
  specs: [way('films', 'films', true, (near, far) => `where ${far}.id = ${near}.film_id`)],
  actors: [
    way('films!roles', 'films', false, (near, far) => `join roles on roles.film_id = ${far}.id where roles.actor_id = ${near}.id`),
  ],
  roles: [
    way('actors', 'actors', true, (near, far) => `where ${far}.id = ${near}.actor_id`),
    way('roles_film_id_fkey', 'films', true, (near, far) => `where ${far}.id = ${near}.film_id`),
  ],
  staff: [
    way('staff', 'staff', false, (near, far) => `where ${far}.boss_id = ${near}.id`),
    way('boss_id', 'staff', true, (near, far) => `where ${far}.id = ${near}.boss_id`),
  ],
  festivals: [
    way('screenings', 'screenings', false, (near, far) => `where ${far}.city = ${near}.city and ${far}.season = ${near}.season`),
  ],
  screenings: [
    way('festivals', 'festivals', true, (near, far) => `where ${far}.city = ${near}.city and ${far}.season = ${near}.season`),
    way('films!won', 'films', true, (near, far) => `where ${far}.id = ${near}.winner_id`),
  ],
} // prettier-ignore

interface Node {
  readonly table: Table
  readonly columns: readonly string[]
  readonly filter: { readonly column: string; readonly word: 'null' | 'not.null' | 'low' } | null
  readonly order: { readonly column: string; readonly isDescending: boolean } | null
  readonly limit: number | null
  readonly offset: number | null
  readonly embeds: readonly Embedded[]
}

interface Embedded {
  readonly way: Way
  readonly join: '' | '!inner' | '!left'
  readonly isSpread: boolean
  readonly presence: boolean | null
  readonly node: Node
}

function nodeOf(table: Table, depth: number): fc.Arbitrary<Node> {
  const { key, others } = COLUMNS[table]
  const column = fc.constantFrom(...key, ...others.filter((name) => name !== 'data'))
  const embed = (found: Way): fc.Arbitrary<Embedded> =>
    fc.record({
      way: fc.constant(found),
      join: fc.constantFrom<Embedded['join']>('', '', '!inner', '!left'),
      isSpread: fc.integer({ min: 0, max: 3 }).map((chance) => chance === 0),
      presence: fc.option(fc.boolean(), { freq: 5 }),
      node: nodeOf(found.target, depth - 1),
    })
  const node = fc.record({
    table: fc.constant(table),
    columns: fc.subarray([...key, ...others], { minLength: 1 }),
    filter: fc.option(fc.record({ column, word: fc.constantFrom('null' as const, 'not.null' as const, 'low' as const) }), { freq: 2 }),
    order: fc.option(fc.record({ column, isDescending: fc.boolean() })),
    limit: fc.option(fc.nat(4), { freq: 3 }),
    offset: fc.option(fc.nat(1), { freq: 6 }),
    embeds: depth === 0 ? fc.constant([]) : fc.uniqueArray(fc.oneof(...WAYS[table].map(embed)), { maxLength: 2, selector: (item) => relationOf(item.way.rest) }),
  }) // prettier-ignore
  // If a relation and a column share a name, a filter of that name applies to the relation.
  const asksForRelation = ({ filter, embeds }: Node) =>
    embeds.some(({ way: { rest }, isSpread }) => isSpread && relationOf(rest) === filter?.column)
  return node.map((made) => (asksForRelation(made) ? { ...made, filter: null } : made))
}

/** Gives every column and embedded relation a unique alias. */
function createTwin() {
  let names = 0
  const parameters: string[] = []
  const newName = (letter: string) => `${letter}${(names += 1)}`

  /** The request's `select` and the equivalent SQL; `at` prefixes the parameters of this level. */
  function write(node: Node, at: string, belongs: (row: string) => string): { select: string; sql: string; columns: string[] } {
    const row = newName('t')
    const { key } = COLUMNS[node.table]
    const shown = node.columns.map((column) => ({ column, alias: newName('c') }))
    const select = shown.map(({ column, alias }) => `${alias}:${column}`)
    const output = shown.map(({ column, alias }) => ({ alias, sql: `${row}.${column}` }))
    const conditions: string[] = []
    const orders = [...(node.order ? [node.order] : []), ...key.map((column) => ({ column, isDescending: false }))]

    for (const { way: { rest, isToOne, sql, target }, join, isSpread, presence, node: inner } of node.embeds) {
      const alias = newName('e')
      const name = isSpread ? relationOf(rest) : alias
      const written = write(inner, `${at}${name}.`, (far) => sql(row, far))
      const rows = written.sql.replace('FROM', `from ${target} as`)
      select.push(`${isSpread ? '...' : `${alias}:`}${rest}${join}(${written.select})`)
      const valueOf = (value: string) => (isToOne ? `(select ${value} from (${rows}) x)` : `(select coalesce(json_agg(to_json(${value})), '[]') from (${rows}) x)`)
      if (isSpread) output.push(...written.columns.map((column) => ({ alias: column, sql: valueOf(`x.${column}`) })))
      else output.push({ alias, sql: isToOne ? valueOf('row_to_json(x)') : valueOf('x') })
      const found = `exists (select from (${rows}) x)`
      if (join === '!inner') conditions.push(found)
      if (presence !== null) {
        parameters.push(`${at}${name}=${presence ? 'not.is' : 'is'}.null`)
        conditions.push(presence ? found : `not ${found}`)
      }
    }

    if (node.filter) {
      const { column, word } = node.filter
      const low = `${row}.${key[0]} `
      if (word === 'low') {
        parameters.push(`${at}${key[0]}=lt.${key[0] === 'city' ? 'Z' : 5}`)
        conditions.push(`${low} < ${key[0] === 'city' ? `'Z'` : 5}`)
      } else {
        parameters.push(`${at}${column}=${word === 'null' ? 'is' : 'not.is'}.null`)
        conditions.push(`${row}.${column} is ${word === 'null' ? '' : 'not '}null`)
      }
    }
    parameters.push(`${at}order=${orders.map(({ column, isDescending }) => `${column}${isDescending ? '.desc' : ''}`).join(',')}`)
    if (node.limit !== null) parameters.push(`${at}limit=${node.limit}`)
    if (node.offset !== null) parameters.push(`${at}offset=${node.offset}`)
    const list = output.map(({ alias, sql }) => `${sql} as ${alias}`).join(', ')
    const where = [belongs(row), ...conditions.map((condition) => `(${condition})`)].join(' and ')
    const order = orders.map(({ column, isDescending }) => `${row}.${column}${isDescending ? ' desc' : ''}`).join(', ')
    return {
      select: select.join(','),
      sql: `select ${list} FROM ${row} ${where} order by ${order} limit ${node.limit ?? 'all'} offset ${node.offset ?? 0}`,
      columns: output.map(({ alias }) => alias),
    }
  } // prettier-ignore

  return { write, parameters }
}

test('every generated tree of embedded relations gives the same rows as equivalent SQL', async () => {
  let embedded = 0
  const tables = Object.keys(COLUMNS) as Table[]
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...tables).chain((table) => nodeOf(table, 2)),
      async (root) => {
        const twin = createTwin()
        const { select, sql } = twin.write(root, '', () => 'where true')
        const path = `/${root.table}?select=${select}&${twin.parameters.join('&')}`
        const response = await fetch(service.url + path, { headers })
        const body = await response.text()
        const statement = sql.replace('FROM', `from ${root.table} as`)
        const expected = await service.db.database.asUser(person, async (scope) => {
          const { rows } = await scope.query<{ rows: string }>(
            `select coalesce(json_agg(to_json(r)), '[]')::text as rows from (${statement}) r`,
          )
          return rows[0]?.rows
        })
        expect([response.status, body], `${path}\n${statement}`).toEqual([200, expected])
        if (root.embeds.length > 0 && body !== '[]') embedded += 1
      },
    ),
    { numRuns: 400 },
  )
  expect(embedded).toBeGreaterThan(40)
})

const noise = fc.constantFrom('films', 'actors', 'roles', 'directors', 'screenings', '!', '!inner', '!shown', '...', ':', '(', ')', '()', ',', '*', 'id', '.', 'x', 'not.', 'is.null', 'order', 'limit', '"', '->', 'count') // prettier-ignore
const noisy = fc.array(noise, { minLength: 1, maxLength: 10 }).map((parts) => parts.join(''))

test('no generated select list makes the server fail', async () => {
  const name = fc.oneof(
    fc.constantFrom('select', 'order', 'films.order', 'films.limit', 'films.or', 'actors.id'),
    noisy,
  )
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('/films', '/actors', '/roles', '/rpc/long_films'),
      noisy,
      fc.array(fc.tuple(name, noisy), { maxLength: 2 }),
      async (path, select, others) => {
        const query = new URLSearchParams([['select', `id,films(id),${select}`], ...others])
        const response = await fetch(`${service.url}${path}?${query.toString()}`, { headers })
        const text = await response.text()
        expect(response.status, `${path}?${query.toString()}\n${text}`).toBeLessThan(500)
        expect(text).not.toContain('syntax error at or near')
      },
    ),
    { numRuns: 200 },
  )
})
