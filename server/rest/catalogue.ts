/** The relations, routines and types of the exposed schemas, looked up by name. */
import type { Column, RoutineRow } from './catalogue-queries.ts'
import type { Relationship } from './relationships.ts'

export type Routine = Omit<RoutineRow, 'columns'> & {
  /** Names and types of the columns of a returned row; empty for scalars. */
  readonly columns: ReadonlyMap<string, string>
}

export interface Relation {
  readonly schema: string
  readonly name: string
  readonly columns: ReadonlyMap<string, Column>
  /** Computed columns: functions that take one row of this relation, by name, with their types. */
  readonly computed: ReadonlyMap<string, string>
  readonly primaryKey: readonly string[]
  readonly uniqueKeys: readonly (readonly string[])[]
}

export interface Catalogue {
  relation(schema: string, name: string): Relation | undefined
  relations(schema: string): readonly Relation[]
  routines(schema: string, name: string): readonly Routine[]
  routineNames(schema: string): readonly string[]
  /** Relationships from a table to others of its schema. */
  relationships(schema: string, name: string): readonly Relationship[]
  /** A type name as SQL; undefined where there is no such type. */
  typeToSql(name: string): string | undefined
}
