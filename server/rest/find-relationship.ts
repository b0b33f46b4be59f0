import { restError } from './errors.ts'
import { nearestName } from './nearest-name.ts'
import { isSameTable, type Relationship, type TableName } from './relationships.ts'

/**
 * PostgREST's rules: `wanted` is a target table, a foreign key or its only column; `hint` is a foreign key, a column of
 * either side, or a junction table.
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
    // A self-reference works both ways: the table's name means one-to-many, the column's name many-to-one.
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

/** @throws RestError PGRST200 if no candidate matches, PGRST201 if several do. */
export function findRelationship(
  candidates: readonly Relationship[],
  origin: TableName,
  wanted: string,
  hint: string | undefined,
): Relationship {
  const matching = candidates.filter((candidate) => matchesRequest(candidate, wanted, hint))
  // A computed relationship overrides foreign keys of the same name.
  const computed = matching.find(({ kind }) => kind === 'computed')
  if (computed) return computed
  const byForeignKey = matching.filter((candidate) => candidate.kind !== 'computed')
  const [found, ...others] = byForeignKey
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
  const hints = byForeignKey.map((candidate) => `'${candidate.target.name}!${disambiguatingHint(candidate)}'`)
  throw restError(
    'PGRST201',
    `Could not embed because more than one relationship was found for '${origin.name}' and '${wanted}'`,
    {
      details: byForeignKey.map(describeRelationship),
      hint: `Try changing '${wanted}' to one of the following: ${hints.join(', ')}. Find the desired relationship in the 'details' key.`,
    },
  )
}
