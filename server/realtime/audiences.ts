import type { TimeSlices } from '#server/base/time-slices.ts'
import type { ApiRole } from '#server/database/scope.ts'
import type { PublishedTable } from './catalogue.ts'
import type { ChangeFilters } from './change-filters.ts'
import type { Binding } from './channels.ts'
import type { Change } from './outbox.ts'
import { canReadKey, type VisibleRow } from './rows.ts'
import type { Audience, ChangeMatch } from './views.ts'

/** Above this, evaluating filters once as the service is cheaper than reading as each subscriber. */
const MAX_SUBSCRIBERS_WITHOUT_PREFILTER = 4

/** True for many subscribers to a table that the service sees completely. */
export function isWorthPrefiltering({ change, table, bindings }: ChangeMatch): boolean {
  if (change.operation === 'DELETE' || !table.isOpenToService || !canReadKey(table, 'service_role')) return false
  const people = new Set<string>()
  for (const { channel } of bindings) {
    people.add(channel.subscriber)
    if (people.size > MAX_SUBSCRIBERS_WITHOUT_PREFILTER) return true
  }
  return false
}

/** Shared by the steps of delivering one batch of changes. */
export interface Batch {
  readonly filters: ChangeFilters
  readonly slices: TimeSlices
}

/** The remaining bindings are matched again with the row as each subscriber sees it. */
export async function dropUnmatched(
  matches: readonly ChangeMatch[],
  prefiltered: readonly ChangeMatch[],
  rows: ReadonlyMap<Change, VisibleRow>,
  batch: Batch,
): Promise<readonly ChangeMatch[]> {
  const filtered = new Set(prefiltered.filter(({ bindings }) => bindings.some(({ filters }) => filters.length > 0)))
  const remaining: ChangeMatch[] = []
  for (const match of matches) {
    if (!filtered.has(match)) {
      remaining.push(match)
      continue
    }
    const row = rows.get(match.change)
    const bindings = row ? await matchingBindings(match, row, batch) : []
    if (bindings.length > 0) remaining.push({ ...match, bindings })
  }
  return remaining
}

async function matchingBindings(
  { change, table, bindings }: ChangeMatch,
  { values }: VisibleRow,
  { filters: changeFilters, slices }: Batch,
): Promise<Binding[]> {
  const matching: Binding[] = []
  for (const binding of bindings) {
    if (slices.isOver) await slices.next()
    const isUnknown = binding.filters.some(({ column }) => !Object.hasOwn(values, column))
    // Only a person who may see the row learns that its filters take too much work.
    if (isUnknown || changeFilters.matches(binding, change, table, values) !== false) matching.push(binding)
  }
  return matching
}

/** A row probably belongs to subscribers whose user id it contains, so they are served first. */
export async function partitionByMention(
  audiences: readonly Audience[],
  rows: ReadonlyMap<Change, VisibleRow> = new Map(),
  slices: TimeSlices,
): Promise<[mentioned: Audience[], others: Audience[]]> {
  const values = new Map([...rows].map(([change, { values: ofRow }]) => [change, new Set(Object.values(ofRow))]))
  const [mentioned, others]: [Audience[], Audience[]] = [[], []]
  for (const audience of audiences) {
    if (slices.isOver) await slices.next()
    const { claims, matches } = audience
    const isMentioned = matches.some(({ change }) => claims.sub !== undefined && values.get(change)?.has(claims.sub))
    ;(isMentioned ? mentioned : others).push(audience)
  }
  return [mentioned, others]
}

export async function groupByAudience(matches: readonly ChangeMatch[], slices: TimeSlices): Promise<Audience[]> {
  const audiences = new Map<string, { subscriber: string; claims: Audience['claims']; matches: ChangeMatch[] }>()
  for (const { change, table, bindings } of matches) {
    if (slices.isOver) await slices.next()
    for (const [subscriber, own] of Map.groupBy(bindings, ({ channel }) => channel.subscriber)) {
      const claims = own[0]?.channel.claims
      if (!claims || !canReadAnything(table, claims.role)) continue
      const audience = audiences.get(subscriber) ?? { subscriber, claims, matches: [] }
      audiences.set(subscriber, audience)
      audience.matches.push({ change, table, bindings: own })
    }
  }
  return [...audiences.values()]
}

const canReadAnything = (table: PublishedTable, role: ApiRole): boolean =>
  table.key.length > 0 ? canReadKey(table, role) : table.readable[role].size > 0
