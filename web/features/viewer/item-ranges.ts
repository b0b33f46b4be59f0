import type { ItemRun } from '#contract/document.ts'

/** Part of one pdf.js text item: `[from, to)` in UTF-16 code units of the item's `str`. */
export interface ItemRange {
  item: number
  from: number
  to: number
}

/** May be shorter than `[start, end)`: generated spaces and line breaks belong to no item. */
export function itemRanges(runs: readonly ItemRun[], start: number, end: number): ItemRange[] {
  const ranges: ItemRange[] = []
  for (const [textOffset, item, itemOffset, length] of runs) {
    const from = Math.max(start, textOffset)
    const to = Math.min(end, textOffset + length)
    if (from >= to) continue
    const range = { item, from: from - textOffset + itemOffset, to: to - textOffset + itemOffset }
    const last = ranges.at(-1)
    if (last?.item === item && last.to === range.from) last.to = range.to
    else ranges.push(range)
  }
  return ranges
}
