/** The selected rows of a list and the anchor of the next range. Ids are in display order. */
export interface Selection {
  readonly ids: ReadonlySet<string>
  /** The row that was last toggled by itself. */
  readonly anchor: string | null
}

export const NOTHING_SELECTED: Selection = { ids: new Set(), anchor: null }

export function toggleRow({ ids }: Selection, id: string): Selection {
  const next = new Set(ids)
  if (!next.delete(id)) next.add(id)
  return { ids: next, anchor: id }
}

/** Adds every row between the anchor and this one, in either direction; without an anchor, this one alone. */
export function extendTo(selection: Selection, id: string, order: readonly string[]): Selection {
  const from = selection.anchor === null ? -1 : order.indexOf(selection.anchor)
  const to = order.indexOf(id)
  if (to < 0) return selection
  const first = from < 0 ? to : Math.min(from, to)
  const range = order.slice(first, Math.max(from, to) + 1)
  return { ids: new Set([...selection.ids, ...range]), anchor: from < 0 ? id : selection.anchor }
}

export function toggleAll({ ids, anchor }: Selection, order: readonly string[]): Selection {
  return order.every((id) => ids.has(id)) ? NOTHING_SELECTED : { ids: new Set([...ids, ...order]), anchor }
}
