/** Which rows of a list are selected, and from where the next range goes out. Ids are in the order in which rows stand. */
export interface Selection {
  readonly ids: ReadonlySet<string>
  /** The row that was last selected or taken out by itself. */
  readonly anchor: string | null
}

export const NOTHING_SELECTED: Selection = { ids: new Set(), anchor: null }

/** Selects a row or takes it out. */
export function toggleRow({ ids }: Selection, id: string): Selection {
  const next = new Set(ids)
  if (!next.delete(id)) next.add(id)
  return { ids: next, anchor: id }
}

/** Adds every row from the anchor to this one, whichever stands higher; without an anchor, this one alone. */
export function extendTo(selection: Selection, id: string, order: readonly string[]): Selection {
  const from = selection.anchor === null ? -1 : order.indexOf(selection.anchor)
  const to = order.indexOf(id)
  if (to < 0) return selection
  const first = from < 0 ? to : Math.min(from, to)
  const range = order.slice(first, Math.max(from, to) + 1)
  return { ids: new Set([...selection.ids, ...range]), anchor: from < 0 ? id : selection.anchor }
}

/** Selects all rows that are shown, or nothing where all of them were. */
export function toggleAll({ ids, anchor }: Selection, order: readonly string[]): Selection {
  return order.every((id) => ids.has(id)) ? NOTHING_SELECTED : { ids: new Set([...ids, ...order]), anchor }
}
