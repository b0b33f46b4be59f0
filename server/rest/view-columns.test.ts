import { expect, test } from 'vitest'
import { resolveOriginChains, columnKey, parseColumnOrigins } from './view-columns.ts'

const entry = (expression: string, number: number, name: string, table: number, column: number) =>
  `{TARGETENTRY :expr ${expression} :resno ${number} :resname ${name} :ressortgroupref 0 :resorigtbl ${table} :resorigcol ${column} :resjunk false}`
const query = (entries: readonly string[], more = '') =>
  `{QUERY :commandType 1 :rtable <> ${more} :targetList (${entries.join(' ')}) :override 0 :onConflict <> :returningList <>}`

test('only columns that come unchanged from a table have an origin', () => {
  const variable = '{VAR :varno 1 :varnullingrels (b)}'
  const definition = `(${query([entry(variable, 1, 'id', 70, 3), entry('{CONST :consttype 23}', 2, 'made', 0, 0)])})`
  expect([...parseColumnOrigins(definition)]).toEqual([[1, columnKey(70, 3)]])
})

test('target lists of nested queries are ignored', () => {
  const inner = query([entry('{VAR}', 1, 'inner', 99, 1)])
  const sublink = `{SUBLINK :subselect ${inner}}`
  const definition = `(${query([entry('{VAR}', 1, 'id', 70, 3), entry(sublink, 2, 'most', 0, 0)], `:cteList (${inner})`)})`
  expect([...parseColumnOrigins(definition)]).toEqual([[1, columnKey(70, 3)]])
})

test('a name that looks like syntax of the definition is only a name', () => {
  const definition = `(${query([entry('{VAR}', 1, String.raw`\:resorigtbl\ 5\ \}\{`, 70, 3)])})`
  expect([...parseColumnOrigins(definition)]).toEqual([[1, columnKey(70, 3)]])
})

test('origins through views of views include every column on the way', () => {
  const views = new Map([
    [1, new Map([[1, columnKey(2, 4)]])],
    [2, new Map([[4, columnKey(70, 3)]])],
  ])
  expect(resolveOriginChains(views).get(columnKey(1, 1))).toEqual([columnKey(2, 4), columnKey(70, 3)])
})
