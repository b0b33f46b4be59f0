/** Most ids that one filter of the realtime service lists. */
const SPACES_OF_FILTER = 200
/** The bindings of one channel may have 128 KiB together. */
const MOST_FILTERS = 16

/** Filters that together match rows of each of the spaces; those after the first 3,200 are left out. */
export function spaceFilters(spaceIds: readonly string[]): string[] {
  const filters: string[] = []
  for (let from = 0; from < spaceIds.length && filters.length < MOST_FILTERS; from += SPACES_OF_FILTER)
    filters.push(`space_id=in.(${spaceIds.slice(from, from + SPACES_OF_FILTER).join(',')})`)
  return filters
}
