export interface TableName {
  readonly schema: string
  readonly name: string
}

/** Column names at the origin and at the target. */
export type ColumnPair = readonly [near: string, far: string]

export interface ForeignKey {
  readonly constraint: string
  readonly from: TableName
  readonly to: TableName
  readonly columns: readonly ColumnPair[]
  /** At most one row refers to each target row. */
  readonly isUnique: boolean
  /** A view replaces the table on this side. */
  readonly isFromView?: boolean
  readonly isToView?: boolean
}

interface Junction extends TableName {
  readonly constraints: readonly [toOrigin: string, toTarget: string]
  readonly near: readonly ColumnPair[]
  readonly far: readonly ColumnPair[]
}

export type Relationship =
  | {
      readonly kind: 'many-to-one' | 'one-to-one' | 'one-to-many'
      readonly origin: TableName
      readonly target: TableName
      readonly constraint: string
      readonly columns: readonly ColumnPair[]
      /** A request can name a view only by its own name. */
      readonly isToView: boolean
    }
  | {
      /** A function that takes a row of the origin and returns rows of the target. */
      readonly kind: 'computed'
      readonly origin: TableName
      readonly target: TableName
      readonly routine: TableName
      readonly isSingle: boolean
      readonly originColumns: readonly string[]
    }
  | {
      readonly kind: 'many-to-many'
      readonly origin: TableName
      readonly target: TableName
      readonly junction: Junction
    }

export const isToOne = (relationship: Relationship): boolean =>
  relationship.kind === 'computed'
    ? relationship.isSingle
    : relationship.kind === 'many-to-one' || relationship.kind === 'one-to-one'

export const originColumnsOf = (relationship: Relationship): readonly string[] =>
  relationship.kind === 'computed' ? relationship.originColumns : keyColumnsOf(relationship)

const keyColumnsOf = (relationship: Exclude<Relationship, { kind: 'computed' }>): readonly string[] =>
  (relationship.kind === 'many-to-many' ? relationship.junction.near : relationship.columns).map(([near]) => near)

export const isSameTable = (one: TableName, other: TableName) => one.name === other.name && one.schema === other.schema
const swapPairs = (pairs: readonly ColumnPair[]) => pairs.map(([near, far]): ColumnPair => [far, near])

/** A table whose primary key covers two foreign keys is a junction. */
export function deriveRelationships(
  keys: readonly ForeignKey[],
  primaryKeyOf: (table: TableName) => readonly string[],
): Relationship[] {
  const direct = keys.flatMap((key): Relationship[] => {
    const { constraint, from, to, columns, isUnique } = key
    const [isFromView, isToView] = [key.isFromView === true, key.isToView === true]
    return [
      { kind: isUnique ? 'one-to-one' : 'many-to-one', origin: from, target: to, constraint, columns, isToView },
      {
        kind: isUnique ? 'one-to-one' : 'one-to-many',
        origin: to,
        target: from,
        constraint,
        columns: swapPairs(columns),
        isToView: isFromView,
      },
    ]
  })
  const references = keys.filter(({ isUnique }) => !isUnique)
  const joined = references.flatMap((near) =>
    references
      .filter((far) => far.constraint !== near.constraint && isSameTable(far.from, near.from))
      .filter((far) => {
        const key = new Set(primaryKeyOf(near.from))
        return [...near.columns, ...far.columns].every(([column]) => key.has(column))
      })
      .map((far): Relationship => ({
        kind: 'many-to-many',
        origin: near.to,
        target: far.to,
        junction: {
          ...near.from,
          constraints: [near.constraint, far.constraint],
          near: swapPairs(near.columns),
          far: far.columns,
        },
      })),
  )
  return [...direct, ...joined]
}
