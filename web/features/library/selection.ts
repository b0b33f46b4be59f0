import type { NamedDocument } from '#contract/document.ts'

/** The selected documents, of which a list may not have loaded all, and the anchor of the next range. */
export interface Selection {
  readonly documents: ReadonlyMap<string, NamedDocument>
  /** The row that was last toggled by itself. */
  readonly anchor: string | null
}

export const NOTHING_SELECTED: Selection = { documents: new Map(), anchor: null }

export function toggleRow({ documents }: Selection, row: NamedDocument): Selection {
  const next = new Map(documents)
  if (!next.delete(row.id)) next.set(row.id, row)
  return { documents: next, anchor: row.id }
}

export function addRows({ documents, anchor }: Selection, rows: readonly NamedDocument[]): Selection {
  const next = new Map(documents)
  for (const row of rows) next.set(row.id, row)
  return { documents: next, anchor }
}

/** Adds every row between the anchor and this one, in either direction; without an anchor, this one alone. */
export function extendTo(selection: Selection, id: string, order: readonly NamedDocument[]): Selection {
  const indexOf = (wanted: string | null) => order.findIndex((row) => row.id === wanted)
  const [from, to] = [indexOf(selection.anchor), indexOf(id)]
  if (to < 0) return selection
  const first = from < 0 ? to : Math.min(from, to)
  const next = addRows(selection, order.slice(first, Math.max(from, to) + 1))
  return from < 0 ? { ...next, anchor: id } : next
}

/** Leaves documents out as they are deleted, and takes their new names. The same selection if it has none of them. */
export function changeSelected(
  selection: Selection,
  ids: readonly string[],
  change: (row: NamedDocument) => NamedDocument | null,
): Selection {
  if (!ids.some((id) => selection.documents.has(id))) return selection
  const next = new Map(selection.documents)
  for (const id of ids) {
    const known = next.get(id)
    const changed = known && change(known)
    if (changed) next.set(id, changed)
    else next.delete(id)
  }
  return { ...selection, documents: next }
}
