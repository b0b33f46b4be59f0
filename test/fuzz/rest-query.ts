/** Query strings for `/rest/v1`: trees of embeds, filters and orders of random size. */
import { TABLES } from './corpus.ts'
import type { Random } from './random.ts'
import { hostileText } from './values.ts'

const COLUMNS = ['*', 'id', 'uid', 'owner', 'title', 'content', 'metadata', 'position', 'created_at', 'pages', 'text']
const OPERATORS = ['eq', 'neq', 'gt', 'gte', 'lt', 'lte', 'like', 'ilike', 'match', 'imatch', 'in', 'is', 'cs', 'cd', 'ov', 'fts', 'plfts', 'wfts', 'phfts', 'sl', 'adj', 'isdistinct', 'not.eq', 'like(any)', 'eq(all)', 'nothing'] // prettier-ignore
const PATTERNS = ['a{0,240}b', '(a+)+$', '(.*)*x', '^(([a-z])+.)+[A-Z]', '[[:alpha:]]{1,255}', '(((((', '\\', '*'.repeat(40)] // prettier-ignore

function column(random: Random): string {
  const name = random.pick(COLUMNS)
  if (random.chance(0.85)) return name
  return random.pick([
    `${name}->a->>b`,
    `${name}->0`,
    `${name}${'->a'.repeat(random.pick([3, 300]))}`,
    `alias:${name}::text`,
    `${name}::${random.pick(['int', 'regclass', 'jsonb', 'bytea', 'nothing'])}`,
    `${name}.sum()`,
    'count()',
    `"${hostileText(random)}"`,
  ])
}

/** A `select` list; `depth` bounds its embeds. */
function selectList(random: Random, depth: number): string {
  const embed = (): string => {
    const spread = random.chance(0.2) ? '...' : ''
    const hint = random.pick(['', '', '!inner', '!left', '!owner', '!nothing'])
    return `${spread}${random.pick(TABLES)}${hint}(${selectList(random, depth - 1)})`
  }
  const item = () => (depth > 0 && random.chance(0.5) ? embed() : column(random))
  return Array.from({ length: 1 + random.int(4) }, item).join()
}

function operand(random: Random): string {
  return random.pick([
    () => hostileText(random),
    () => `(${Array.from({ length: random.pick([1, 20, 2_000]) }, () => random.uuid()).join()})`,
    () => random.pick(PATTERNS),
    () => random.uuid(),
    () => '{a,b}',
    () => 'null',
    () => '1',
  ])()
}

const condition = (random: Random): string => `${column(random)}.${random.pick(OPERATORS)}.${operand(random)}`

/** Conditions joined by `and` and `or`, in brackets. */
function logic(random: Random, depth: number): string {
  const item = () =>
    depth > 0 && random.chance(0.4) ? `${random.pick(['and', 'or', 'not.and'])}${logic(random, depth - 1)}` : condition(random) // prettier-ignore
  return `(${Array.from({ length: 1 + random.int(4) }, item).join()})`
}

export function restQuery(random: Random): string {
  const depth = random.pick([1, 2, 3, 12])
  const parameters: (() => [name: string, value: string])[] = [
    () => ['select', selectList(random, depth)],
    () => [column(random), `${random.pick(OPERATORS)}.${operand(random)}`],
    () => [`${random.pick(TABLES)}.${column(random)}`, `${random.pick(OPERATORS)}.${operand(random)}`],
    () => [random.pick(['or', 'and', 'not.or']), logic(random, random.pick([1, 3, 40]))],
    () => ['order', Array.from({ length: 1 + random.int(5) }, () => `${column(random)}.desc.nullslast`).join()],
    () => [random.pick(['limit', 'offset']), random.pick(['0', '1', '-1', '1e9', '99999999999999999999', 'a'])],
    () => ['columns', COLUMNS.slice(0, random.int(9)).join()],
    () => ['on_conflict', random.pick(['id', 'owner', 'nothing', 'id,owner'])],
  ]
  const chosen = Array.from({ length: 1 + random.int(5) }, () => random.pick(parameters)())
  return chosen.map(([name, value]) => `${encodeURIComponent(wellFormed(name))}=${encodeURIComponent(wellFormed(value))}`).join('&') // prettier-ignore
}

/** `encodeURIComponent` throws for a lone surrogate. */
const wellFormed = (text: string): string => text.toWellFormed()
