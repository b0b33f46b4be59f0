import type { Field, Filter } from '#server/database/filter.ts'
import type { AnswerBounds } from './answer-bounds.ts'
import type { Catalogue, Relation } from './catalogue.ts'
import { RestError, restError, unknownColumn } from './errors.ts'
import { findRelationship } from './find-relationship.ts'
import { type Clauses, type LogicTree, NO_CLAUSES, type OrderTerm, type Query } from './parse-query.ts'
import type { RestRequest } from './parse-request.ts'
import type { Embedding, SelectItem } from './parse-select.ts'
import {
  type EmbedPlan,
  isEmbed,
  type OutputColumn,
  type ResultPlan,
  type SelectPlan,
  type TypedField,
  type TypedLogicTree,
  type TypedOrder,
} from './plan.ts'
import { isToOne, type Relationship } from './relationships.ts'
import { resolveRange } from './row-range.ts'

export interface RowSource {
  readonly name: string
  readonly schema: string
  typeOf(column: string): string | undefined
  /** Number of columns of `*`. */
  readonly width: number
  readonly relationships: readonly Relationship[]
}

/** PostgreSQL rejects longer target lists. */
const MAX_OUTPUT_COLUMNS = 1_600

export const relationSource = (catalogue: Catalogue, relation: Relation): RowSource => ({
  name: relation.name,
  schema: relation.schema,
  width: relation.columns.size,
  typeOf: (column) => relation.columns.get(column)?.type ?? relation.computed.get(column),
  relationships: catalogue.relationships(relation.schema, relation.name),
})

const isEmbedding = (item: SelectItem): item is Embedding => item.kind === 'embedded'
const embeddingName = ({ alias, relation }: Embedding): string => alias ?? relation

const notEmbedded = (name: string) =>
  restError('PGRST108', `'${name}' is not an embedded resource in this request`, {
    hint: `Verify that '${name}' is included in the 'select' query parameter.`,
  })

/** @throws RestError PGRST108 for clauses of a relation that is not embedded. */
function groupClausesByEmbedding({ select, nested }: Query): ReadonlyMap<Embedding, Clauses> {
  const grouped = new Map<Embedding, Clauses>()
  for (const { path, clauses } of nested) {
    let items = select
    let embedding: Embedding | undefined
    for (const name of path) {
      const embeddings = items.filter(isEmbedding)
      embedding =
        embeddings.find((item) => embeddingName(item) === name) ?? embeddings.find((item) => item.relation === name)
      if (!embedding) throw notEmbedded(name)
      items = embedding.select
    }
    if (!embedding) continue
    const earlier = grouped.get(embedding)
    // A request can name a relation both by its alias and by its own name.
    grouped.set(embedding, earlier ? { ...clauses, ...earlier, where: [...earlier.where, ...clauses.where] } : clauses)
  }
  return grouped
}

interface PlanContext {
  readonly catalogue: Catalogue
  readonly clauses: ReadonlyMap<Embedding, Clauses>
  readonly maxRows: number | undefined
}

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

function resolveOrder(
  context: PlanContext,
  source: RowSource,
  embeds: readonly EmbedPlan[],
  term: OrderTerm,
): TypedOrder {
  const { embedded, field, direction, nulls } = term
  if (embedded === undefined) return { embed: undefined, field: resolveField(source, field), direction, nulls }
  const embed = embeds.find(({ name }) => name === embedded)
  if (!embed) throw notEmbedded(embedded)
  if (!isToOne(embed.relationship)) {
    throw restError('PGRST118', `A related order on '${embedded}' is not possible`, {
      details: `'${source.name}' and '${embedded}' do not form a many-to-one or one-to-one relationship`,
    })
  }
  return { embed, field: resolveField(relationSource(context.catalogue, embed.target), field), direction, nulls }
}

const outputName = ({ column, path }: Field): string => path.findLast((step) => !step.isIndex)?.key ?? column

function planEmbed(context: PlanContext, source: RowSource, item: Embedding): EmbedPlan {
  const relationship = findRelationship(source.relationships, source, item.relation, item.hint)
  const target = context.catalogue.relation(relationship.target.schema, relationship.target.name)
  if (!target) throw new Error(`${relationship.target.name} is referred to but not in the catalogue`)
  const plan = planSelect(context, relationSource(context.catalogue, target), item.select, {
    clauses: context.clauses.get(item) ?? NO_CLAUSES,
    isOneRow: isToOne(relationship),
  })
  return {
    ...plan,
    kind: 'embedded',
    name: embeddingName(item),
    relationship,
    target,
    isInner: item.isInner,
    isSpread: item.isSpread,
    isHidden: plan.output.every((inner) => isEmbed(inner) && inner.isHidden),
  }
}

function planOutput(context: PlanContext, source: RowSource, items: readonly SelectItem[]): OutputColumn[] {
  const output = items.map((item): OutputColumn => {
    if (item.kind === 'all') return item
    if (item.kind === 'embedded') return planEmbed(context, source, item)
    const castSql = item.cast === undefined ? undefined : context.catalogue.typeToSql(item.cast)
    if (item.cast !== undefined && castSql === undefined) {
      throw new RestError('42704', 400, `type "${item.cast}" does not exist`)
    }
    return {
      kind: 'field',
      field: resolveField(source, item.field),
      castSql,
      name: item.alias ?? outputName(item.field),
    }
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
  context: PlanContext,
  source: RowSource,
  select: readonly SelectItem[],
  {
    clauses,
    rangeHeader,
    isOneRow = false,
  }: { clauses: Clauses; rangeHeader?: string | undefined; isOneRow?: boolean },
): SelectPlan {
  const output = planOutput(context, source, select)
  const embeds = output.filter(isEmbed)
  return {
    output,
    where: clauses.where.map((logic) => resolveLogicTree(source, embeds, logic)),
    order: clauses.order.map((term) => resolveOrder(context, source, embeds, term)),
    // A limit on one row would only keep PostgreSQL from joining the tables at once.
    range: resolveRange(clauses, rangeHeader, isOneRow ? undefined : context.maxRows),
  }
}

export function planResult(
  catalogue: Catalogue,
  source: RowSource,
  { query, method, preferences, range }: RestRequest,
  bounds: AnswerBounds,
): ResultPlan {
  const context = { catalogue, clauses: groupClausesByEmbedding(query), maxRows: bounds.maxRows }
  return {
    ...planSelect(context, source, query.select, { clauses: query, rangeHeader: range }),
    count: preferences.count,
    isHead: method === 'HEAD',
    bounds,
  }
}

/** Columns of the source that are selected, filtered or ordered by. */
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

/** The request's filters and limits select the rows to write, not those to return. */
export function planReturning(
  catalogue: Catalogue,
  source: RowSource,
  { query }: RestRequest,
  { maxRows }: AnswerBounds,
): Pick<SelectPlan, 'output' | 'order'> {
  const context = { catalogue, clauses: groupClausesByEmbedding(query), maxRows }
  return planSelect(context, source, query.select, { clauses: { ...NO_CLAUSES, order: query.order } })
}
