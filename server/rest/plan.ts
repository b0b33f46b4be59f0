/** A plan says what a request reads or writes, with every name resolved to the catalogue. */
import type { Field, Filter } from '#server/database/filter.ts'
import type { AnswerBounds } from './answer-bounds.ts'
import type { Column, Parameter } from './catalogue-queries.ts'
import type { Relation, Routine } from './catalogue.ts'
import type { Payload } from './parse-payload.ts'
import type { OrderTerm } from './parse-query.ts'
import type { Media } from './parse-request.ts'
import type { Relationship } from './relationships.ts'
import type { RowRange } from './row-range.ts'

export interface TypedField extends Field {
  readonly type: string
}

export type OutputColumn =
  | { readonly kind: 'all' }
  | { readonly kind: 'field'; readonly field: TypedField; readonly castSql: string | undefined; readonly name: string }
  | EmbedPlan

export type TypedLogicTree =
  | { readonly kind: 'filter'; readonly filter: Filter; readonly type: string }
  /** True for outer rows that have an embedded row after its filters. */
  | { readonly kind: 'presence'; readonly embed: EmbedPlan; readonly isPresent: boolean }
  | { readonly kind: 'and' | 'or'; readonly negated: boolean; readonly parts: readonly TypedLogicTree[] }

export interface TypedOrder extends Pick<OrderTerm, 'direction' | 'nulls'> {
  /** To-one relation that has the field; undefined: the selected relation. */
  readonly embed: EmbedPlan | undefined
  readonly field: TypedField
}

export interface SelectPlan {
  readonly output: readonly OutputColumn[]
  readonly where: readonly TypedLogicTree[]
  readonly order: readonly TypedOrder[]
  readonly range: RowRange
}

export interface EmbedPlan extends SelectPlan {
  readonly kind: 'embedded'
  /** Key in the outer row, and the name in filters and orders. */
  readonly name: string
  readonly relationship: Relationship
  readonly target: Relation
  readonly isInner: boolean
  readonly isSpread: boolean
  /** Embedded only to filter by it. */
  readonly isHidden: boolean
}

export interface ResultPlan extends SelectPlan {
  readonly count: 'exact' | 'planned' | 'estimated' | undefined
  /** HEAD: rows are counted, not rendered. */
  readonly isHead: boolean
  readonly bounds: AnswerBounds
}

export const isShown = ({ isSpread, isHidden }: EmbedPlan): boolean => !isSpread && !isHidden

export const isEmbed = (item: OutputColumn): item is EmbedPlan => item.kind === 'embedded'

export interface ReadPlan extends ResultPlan {
  readonly kind: 'read'
  readonly relation: Relation
  readonly media: Media
}

export interface WritePlan extends Pick<SelectPlan, 'output' | 'order'> {
  readonly relation: Relation
  readonly media: Media
  readonly returns: 'rows' | 'key' | 'none'
  readonly bounds: AnswerBounds
}

export interface WriteColumn {
  readonly column: Column
  /** SQL of the default for rows that omit the column; undefined: null. */
  readonly fallback: string | undefined
}

export interface InsertPlan extends WritePlan {
  readonly kind: 'insert'
  readonly columns: readonly WriteColumn[]
  readonly payload: Payload
  readonly conflict: { readonly columns: readonly string[]; readonly isMerged: boolean } | undefined
}

export interface UpdatePlan extends WritePlan {
  readonly kind: 'update'
  readonly columns: readonly WriteColumn[]
  readonly payload: Payload
  readonly where: readonly TypedLogicTree[]
}

export interface DeletePlan extends WritePlan {
  readonly kind: 'delete'
  readonly where: readonly TypedLogicTree[]
}

export type TablePlan = ReadPlan | InsertPlan | UpdatePlan | DeletePlan

export type CallArguments =
  /** GET: only a variadic parameter has several texts. */
  | {
      readonly kind: 'texts'
      readonly values: readonly { readonly parameter: Parameter; readonly texts: readonly string[] }[]
    }
  | {
      readonly kind: 'json'
      readonly parameters: readonly Parameter[]
      readonly text: string
      readonly isArray: boolean
    }
  /** The complete body, for a single unnamed parameter. */
  | { readonly kind: 'body'; readonly type: string; readonly text: string }

export interface CallPlan extends ResultPlan {
  readonly kind: 'call'
  readonly routine: Routine
  readonly media: Media
  readonly args: CallArguments
  /** Computed columns that the request uses. */
  readonly computed: readonly string[]
}

export type Plan = TablePlan | CallPlan
