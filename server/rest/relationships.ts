/** How the tables of a schema hang together: their foreign keys from both ends, and through tables that join two others. */
import { nearestName } from './nearest-name.ts'
import { restError } from './errors.ts'

interface TableName {
  readonly schema: string
  readonly name: string
}

/** Column names: on the side that one stands on, and on the other. */
export type ColumnPair = readonly [near: string, far: string]

export interface ForeignKey {
  readonly constraint: string
  readonly from: TableName
  readonly to: TableName
  readonly columns: readonly ColumnPair[]
  /** The columns are a key of their own table too: at most one row refers to another. */
  readonly isUnique: boolean
  /** A view stands for the table that has the key, or for the one that it refers to. */
  readonly isFromView?: boolean
  readonly isToView?: boolean
}

interface Junction extends TableName {
  readonly constraints: readonly [toOrigin: string, toTarget: string]
  /** From the origin to the junction. */
  readonly near: readonly ColumnPair[]
  /** From the junction to the target. */
  readonly far: readonly ColumnPair[]
}

export type Relationship =
  | {
      readonly kind: 'many-to-one' | 'one-to-one' | 'one-to-many'
      readonly origin: TableName
      readonly target: TableName
      readonly constraint: string
      readonly columns: readonly ColumnPair[]
      /** A view is found by its name alone, where a table may be found by its key too. */
      readonly isToView: boolean
    }
  | {
      /** A function of one row of the origin that returns rows of the target. */
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

/** At most one row of the target belongs to a row of the origin. */
export const isToOne = (relationship: Relationship): boolean =>
  relationship.kind === 'computed'
    ? relationship.isSingle
    : relationship.kind === 'many-to-one' || relationship.kind === 'one-to-one'

/** Columns of the origin by which its rows find those of the target. */
export const originColumnsOf = (relationship: Relationship): readonly string[] =>
  relationship.kind === 'computed' ? relationship.originColumns : keyColumnsOf(relationship)

const keyColumnsOf = (relationship: Exclude<Relationship, { kind: 'computed' }>): readonly string[] =>
  (relationship.kind === 'many-to-many' ? relationship.junction.near : relationship.columns).map(([near]) => near)

const isSameTable = (one: TableName, other: TableName) => one.name === other.name && one.schema === other.schema
const swapPairs = (pairs: readonly ColumnPair[]) => pairs.map(([near, far]): ColumnPair => [far, near])

/** @param primaryKeyOf names of the columns of a table's primary key. */
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

/**
 * Whether a request that names `wanted`, and perhaps a hint, means this relationship. A table may be named by itself, by
 * the foreign key, or by its one column; a hint may be the foreign key, a column on either side, or the joining table.
 */
function matchesRequest(relationship: Relationship, wanted: string, hint: string | undefined): boolean {
  if (relationship.kind === 'computed') return wanted === relationship.routine.name
  const isTarget = wanted === relationship.target.name
  if (relationship.kind === 'many-to-many') {
    return isTarget && (hint === undefined || hint === relationship.junction.name)
  }
  const { kind, constraint, columns } = relationship
  const [near, far] = columns.length === 1 ? (columns[0] ?? []) : []
  if (isSameTable(relationship.origin, relationship.target)) {
    // One foreign key and two ways to follow it: by the table's name down to many, by the column's up to one.
    if (hint === undefined) return isTarget ? kind === 'one-to-many' : wanted === near && kind === 'many-to-one'
    return isTarget && kind === 'one-to-many' && hint === far
  }
  if (hint === undefined) return isTarget || (!relationship.isToView && (wanted === constraint || wanted === near))
  return isTarget && [constraint, near, far].includes(hint)
}

const listColumns = (columns: readonly string[]) => `(${columns.join(', ')})`

function describeRelationship(relationship: Exclude<Relationship, { kind: 'computed' }>): Record<string, string> {
  const { origin, target, kind } = relationship
  const named = { embedding: `${origin.name} with ${target.name}`, cardinality: kind }
  if (relationship.kind === 'many-to-many') {
    const { name, constraints, near, far } = relationship.junction
    const nearSide = `${constraints[0]}${listColumns(near.map(([, column]) => column))}`
    const farSide = `${constraints[1]}${listColumns(far.map(([column]) => column))}`
    return { ...named, relationship: `${name} using ${nearSide} and ${farSide}` }
  }
  const { constraint, columns } = relationship
  const nearSide = `${origin.name}${listColumns(columns.map(([column]) => column))}`
  const farSide = `${target.name}${listColumns(columns.map(([, column]) => column))}`
  return { ...named, relationship: `${constraint} using ${nearSide} and ${farSide}` }
}

const disambiguatingHint = (relationship: Exclude<Relationship, { kind: 'computed' }>): string =>
  relationship.kind === 'many-to-many' ? relationship.junction.name : relationship.constraint

/**
 * @param candidates relationships whose origin is this one.
 * @throws RestError PGRST200 where none is meant, PGRST201 where several are.
 */
export function findRelationship(
  candidates: readonly Relationship[],
  origin: TableName,
  wanted: string,
  hint: string | undefined,
): Relationship {
  const asked = candidates.filter((candidate) => matchesRequest(candidate, wanted, hint))
  // A function is written to be used: it stands before what foreign keys would give under its name.
  const computed = asked.find(({ kind }) => kind === 'computed')
  if (computed) return computed
  const meant = asked.filter((candidate) => candidate.kind !== 'computed')
  const [found, ...others] = meant
  if (!found) {
    const nearest = nearestName(
      wanted,
      candidates.map(({ target }) => target.name).filter((name) => name !== wanted),
    )
    const using = hint === undefined ? '' : ` using the hint '${hint}'`
    throw restError(
      'PGRST200',
      `Could not find a relationship between '${origin.name}' and '${wanted}' in the schema cache`,
      {
        details: `Searched for a foreign key relationship between '${origin.name}' and '${wanted}'${using} in the schema '${origin.schema}', but no matches were found.`,
        hint: nearest === undefined ? null : `Perhaps you meant '${nearest}' instead of '${wanted}'.`,
      },
    )
  }
  if (others.length === 0) return found
  const hints = meant.map((candidate) => `'${candidate.target.name}!${disambiguatingHint(candidate)}'`)
  throw restError(
    'PGRST201',
    `Could not embed because more than one relationship was found for '${origin.name}' and '${wanted}'`,
    {
      details: meant.map(describeRelationship),
      hint: `Try changing '${wanted}' to one of the following: ${hints.join(', ')}. Find the desired relationship in the 'details' key.`,
    },
  )
}
