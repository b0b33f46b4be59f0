/** What a request asks of rows and of those embedded in them, with every name looked up in the catalogue. */
import { type Field, type Filter } from '#server/database/filter.ts'
import { RestError, restError, unknownColumn } from './errors.ts'
import { type Clauses, type LogicTree, type OrderTerm, type Query } from './parse-query.ts'
import { type Embedding, type SelectItem } from './parse-select.ts'
import { type RowRange, resolveRange } from './row-range.ts'
import { findRelationship, isToOne, type Relationship } from './relationships.ts'
import { type RestRequest } from './parse-request.ts'
import { type Catalogue, type Relation } from './schema-cache.ts'

/** A field with the type of its column. */
interface TypedField extends Field {
  readonly type: string
}

export type OutputColumn =
  | { readonly kind: 'all' }
  | { readonly kind: 'field'; readonly field: TypedField; readonly castSql: string | undefined; readonly name: string }
  | EmbedPlan

export type TypedLogicTree =
  | { readonly kind: 'filter'; readonly filter: Filter; readonly type: string }
  /** Whether there is an embedded row, after its own filters. */
  | { readonly kind: 'presence'; readonly embed: EmbedPlan; readonly isPresent: boolean }
  | { readonly kind: 'and' | 'or'; readonly negated: boolean; readonly parts: readonly TypedLogicTree[] }

export interface TypedOrder extends Pick<OrderTerm, 'direction' | 'nulls'> {
  /** The field is one of these rows, of which there is at most one each. */
  readonly embed: EmbedPlan | undefined
  readonly field: TypedField
}

/** Which rows of one source come out, how, and in which order. */
export interface SelectPlan {
  readonly output: readonly OutputColumn[]
  readonly where: readonly TypedLogicTree[]
  readonly order: readonly TypedOrder[]
  readonly range: RowRange
}

/** Rows of a related table within each row. */
export interface EmbedPlan extends SelectPlan {
  readonly kind: 'embedded'
  /** Key in the outer row; what filters and orders call it. */
  readonly name: string
  readonly relationship: Relationship
  readonly target: Relation
  readonly isInner: boolean
  /** Its columns stand among those of the outer row. */
  readonly isSpread: boolean
  /** Nothing of it is shown: it is there to be filtered by. */
  readonly isHidden: boolean
}

export interface ResultPlan extends SelectPlan {
  readonly count: 'exact' | 'planned' | 'estimated' | undefined
  /** HEAD: rows are counted, not rendered. */
  readonly isHead: boolean
  readonly maxRows: number | undefined
}

/** The columns that a source of rows has: a relation, or what a function returns. */
export interface RowSource {
  readonly name: string
  readonly schema: string
  typeOf(column: string): string | undefined
  /** How many columns `*` stands for. */
  readonly width: number
  readonly relationships: readonly Relationship[]
}

/** PostgreSQL refuses longer lists of columns as too complex. */
const MAX_OUTPUT_COLUMNS = 1_600

export const relationSource = (catalogue: Catalogue, relation: Relation): RowSource => ({
  name: relation.name,
  schema: relation.schema,
  width: relation.columns.size,
  typeOf: (column) => relation.columns.get(column)?.type ?? relation.computed.get(column),
  relationships: catalogue.relationships(relation.schema, relation.name),
})

const isEmbedding = (item: SelectItem): item is Embedding => item.kind === 'embedded'
export const isEmbed = (item: OutputColumn): item is EmbedPlan => item.kind === 'embedded'
const embeddingName = ({ alias, relation }: Embedding): string => alias ?? relation

const notEmbedded = (name: string) =>
  restError('PGRST108', `'${name}' is not an embedded resource in this request`, {
    hint: `Verify that '${name}' is included in the 'select' query parameter.`,
  })

/** Which clauses belong to which embedded relation. @throws RestError PGRST108 for those that belong to none. */
function groupClausesByEmbedding({ select, nested }: Query): ReadonlyMap<Embedding, Clauses> {
  const found = new Map<Embedding, Clauses>()
  for (const { path, clauses } of nested) {
    let items = select
    let reached: Embedding | undefined
    for (const name of path) {
      const embeddings = items.filter(isEmbedding)
      reached =
        embeddings.find((item) => embeddingName(item) === name) ?? embeddings.find((item) => item.relation === name)
      if (!reached) throw notEmbedded(name)
      items = reached.select
    }
    if (!reached) continue
    const before = found.get(reached)
    // The same one may be meant by its alias and by its name.
    found.set(reached, before ? { ...clauses, ...before, where: [...before.where, ...clauses.where] } : clauses)
  }
  return found
}

interface PlanContext {
  readonly catalogue: Catalogue
  readonly clauses: ReadonlyMap<Embedding, Clauses>
  readonly maxRows: number | undefined
}

const NO_CLAUSES: Clauses = { where: [], order: [], limit: undefined, offset: undefined }

function resolveField(source: RowSource, field: Field): TypedField {
  const type = source.typeOf(field.column)
  if (type === undefined) throw unknownColumn(source.name, field.column)
  return { ...field, type }
}

function resolveFilter(source: RowSource, embeds: readonly EmbedPlan[], filter: Filter): TypedLogicTree {
  const embed = filter.path.length === 0 ? embeds.find(({ name }) => name === filter.column) : undefined
  if (embed && filter.operator === 'is' && (filter.value === 'null' || filter.value === 'not_null')) {
    return { kind: 'presence', embed, isPresent: (filter.value === 'not_null') !== filter.negated }
  }
  if (embed && source.typeOf(filter.column) === undefined) {
    throw restError('PGRST120', `Bad operator on the '${filter.column}' embedded resource`, {
      details: 'Only is null or not is null filters are allowed on embedded resources',
    })
  }
  return { kind: 'filter', filter, type: resolveField(source, filter).type }
}

export function resolveLogicTree(source: RowSource, embeds: readonly EmbedPlan[], logic: LogicTree): TypedLogicTree {
  if (logic.kind === 'filter') return resolveFilter(source, embeds, logic.filter)
  return { ...logic, parts: logic.parts.map((part) => resolveLogicTree(source, embeds, part)) }
}

function resolveOrder(asked: PlanContext, source: RowSource, embeds: readonly EmbedPlan[], term: OrderTerm): TypedOrder {
  const { embedded, field, direction, nulls } = term
  if (embedded === undefined) return { embed: undefined, field: resolveField(source, field), direction, nulls }
  const embed = embeds.find(({ name }) => name === embedded)
  if (!embed) throw notEmbedded(embedded)
  if (!isToOne(embed.relationship)) {
    throw restError('PGRST118', `A related order on '${embedded}' is not possible`, {
      details: `'${source.name}' and '${embedded}' do not form a many-to-one or one-to-one relationship`,
    })
  }
  return { embed, field: resolveField(relationSource(asked.catalogue, embed.target), field), direction, nulls }
}

/** The name that a column has in the answer: its alias, or the last key of its path. */
const outputName = ({ column, path }: Field): string => path.findLast((step) => !step.isIndex)?.key ?? column

function planEmbed(asked: PlanContext, source: RowSource, item: Embedding): EmbedPlan {
  const relationship = findRelationship(source.relationships, source, item.relation, item.hint)
  const target = asked.catalogue.relation(relationship.target.schema, relationship.target.name)
  if (!target) throw new Error(`${relationship.target.name} is referred to but not in the catalogue`)
  const level = planSelect(asked, relationSource(asked.catalogue, target), item.select, asked.clauses.get(item) ?? NO_CLAUSES)
  return {
    ...level,
    kind: 'embedded',
    name: embeddingName(item),
    relationship,
    target,
    isInner: item.isInner,
    isSpread: item.isSpread,
    isHidden: level.output.every((inner) => isEmbed(inner) && inner.isHidden),
  }
}

function planOutput(asked: PlanContext, source: RowSource, items: readonly SelectItem[]): OutputColumn[] {
  const output = items.map((item): OutputColumn => {
    if (item.kind === 'all') return item
    if (item.kind === 'embedded') return planEmbed(asked, source, item)
    const castSql = item.cast === undefined ? undefined : asked.catalogue.typeToSql(item.cast)
    if (item.cast !== undefined && castSql === undefined) {
      throw new RestError('42704', 400, `type "${item.cast}" does not exist`)
    }
    return { kind: 'field', field: resolveField(source, item.field), castSql, name: item.alias ?? outputName(item.field) }
  })
  if (outputWidth(output, source.width) > MAX_OUTPUT_COLUMNS) {
    throw restError('PGRST100', `More than ${MAX_OUTPUT_COLUMNS} columns are selected`)
  }
  return output
}

const outputWidth = (output: readonly OutputColumn[], starWidth: number): number =>
  output.reduce((sum, item) => {
    if (item.kind === 'all') return sum + starWidth
    return sum + (isEmbed(item) && item.isSpread ? outputWidth(item.output, item.target.columns.size) : 1)
  }, 0)

function planSelect(
  asked: PlanContext,
  source: RowSource,
  select: readonly SelectItem[],
  clauses: Clauses,
  rangeHeader?: string,
): SelectPlan {
  const output = planOutput(asked, source, select)
  const embeds = output.filter(isEmbed)
  return {
    output,
    where: clauses.where.map((logic) => resolveLogicTree(source, embeds, logic)),
    order: clauses.order.map((term) => resolveOrder(asked, source, embeds, term)),
    range: resolveRange(clauses, rangeHeader, asked.maxRows),
  }
}

/** What the query parameters ask of a source. */
export function planResult(
  catalogue: Catalogue,
  source: RowSource,
  { query, method, preferences, range }: RestRequest,
  maxRows: number | undefined,
): ResultPlan {
  const asked = { catalogue, clauses: groupClausesByEmbedding(query), maxRows }
  return {
    ...planSelect(asked, source, query.select, query, range),
    count: preferences.count,
    isHead: method === 'HEAD',
    maxRows,
  }
}

/** Columns of the rows themselves that come out, or that decide which do and in which order. */
export function usedColumns({ output, where, order }: SelectPlan): ReadonlySet<string> {
  const ofLogic = (logic: TypedLogicTree): string[] => {
    if (logic.kind === 'presence') return []
    return logic.kind === 'filter' ? [logic.filter.column] : logic.parts.flatMap(ofLogic)
  }
  return new Set([
    ...output.flatMap((item) => (item.kind === 'field' ? [item.field.column] : [])),
    ...where.flatMap(ofLogic),
    ...order.flatMap(({ embed, field }) => (embed ? [] : [field.column])),
  ])
}

/** What a write shows of its rows: its own filters and limits say which rows are written, not which are shown. */
export function planReturning(
  catalogue: Catalogue,
  source: RowSource,
  { query }: RestRequest,
  maxRows: number | undefined,
): Pick<SelectPlan, 'output' | 'order'> {
  const asked = { catalogue, clauses: groupClausesByEmbedding(query), maxRows }
  return planSelect(asked, source, query.select, { ...NO_CLAUSES, order: query.order })
}
