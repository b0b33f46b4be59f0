import type { ApiRole } from '#server/database/scope.ts'
import { matchesBinding } from './bindings.ts'
import type { PublishedTable } from './catalogue.ts'
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

/** The remaining bindings are matched again with the row as each subscriber sees it. */
export function dropUnmatched(
  matches: readonly ChangeMatch[],
  prefiltered: readonly ChangeMatch[],
  rows: ReadonlyMap<Change, VisibleRow>,
): readonly ChangeMatch[] {
  const filtered = new Set(prefiltered.filter(({ bindings }) => bindings.some(({ filters }) => filters.length > 0)))
  return matches.flatMap((match) => {
    if (!filtered.has(match)) return [match]
    const row = rows.get(match.change)
    const bindings = row ? matchingBindings(match, row) : []
    return bindings.length > 0 ? [{ ...match, bindings }] : []
  })
}

/** A row probably belongs to subscribers whose user id it contains, so they are served first. */
export function partitionByMention(
  audiences: readonly Audience[],
  rows: ReadonlyMap<Change, VisibleRow> = new Map(),
): [mentioned: Audience[], others: Audience[]] {
  const values = new Map([...rows].map(([change, { values }]) => [change, new Set(Object.values(values))]))
  const isMentioned = ({ claims, matches }: Audience) =>
    matches.some(({ change }) => claims.sub !== undefined && values.get(change)?.has(claims.sub))
  const { mentioned = [], others = [] } = Object.groupBy(audiences, (audience) =>
    isMentioned(audience) ? 'mentioned' : 'others',
  )
  return [mentioned, others]
}

function matchingBindings({ table, bindings }: ChangeMatch, { values }: VisibleRow): Binding[] {
  const isMatching = new Map<string, boolean>()
  return bindings.filter((binding) => {
    const { filters, filterText } = binding
    if (filters.some(({ column }) => !Object.hasOwn(values, column))) return true
    const matches = isMatching.get(filterText) ?? matchesBinding(binding, table, values)
    isMatching.set(filterText, matches)
    return matches
  })
}

export function groupByAudience(matches: readonly ChangeMatch[]): Audience[] {
  const audiences = new Map<string, { subscriber: string; claims: Audience['claims']; matches: ChangeMatch[] }>()
  for (const { change, table, bindings } of matches) {
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
