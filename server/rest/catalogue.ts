import type { Column, RoutineRow } from './catalogue-queries.ts'
import type { Relationship } from './relationships.ts'

export type Routine = Omit<RoutineRow, 'columns'> & {
  /** Column types by name; empty for scalars. */
  readonly columns: ReadonlyMap<string, string>
}

export interface Relation {
  readonly schema: string
  readonly name: string
  readonly columns: ReadonlyMap<string, Column>
  /** Computed columns (functions that take one row of this relation): types by name. */
  readonly computed: ReadonlyMap<string, string>
  readonly primaryKey: readonly string[]
  readonly uniqueKeys: readonly (readonly string[])[]
}

export interface Catalogue {
  relation(schema: string, name: string): Relation | undefined
  relations(schema: string): readonly Relation[]
  routines(schema: string, name: string): readonly Routine[]
  routineNames(schema: string): readonly string[]
  /** Only to tables of its own schema. */
  relationships(schema: string, name: string): readonly Relationship[]
  /** Undefined if no type has this name. */
  typeToSql(name: string): string | undefined
}
