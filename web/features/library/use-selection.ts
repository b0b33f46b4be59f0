import { useState, type KeyboardEvent } from 'react'
import { SHORTCUTS } from '#web/lib/shortcuts.ts'
import { extendTo, NOTHING_SELECTED, toggleAll, toggleRow } from './selection.ts'

export interface RowSelection {
  readonly isSelected: boolean
  /** `withRange`: Shift was held. */
  readonly choose: (withRange: boolean) => void
}

interface ListSelection {
  /** Null while not in selection mode. */
  readonly ids: ReadonlySet<string> | null
  begin: () => void
  end: () => void
  chooseAll: () => void
  rowOf: (id: string) => RowSelection | undefined
  /** Arrow keys move, with Shift they select; Ctrl+A selects all, Delete asks for confirmation. */
  onKeyDown: (event: KeyboardEvent<HTMLElement>) => void
}

/** Rows that are no longer shown drop out of the selection. */
export function useSelection(order: readonly string[], onDelete: () => void): ListSelection {
  const [state, setState] = useState<typeof NOTHING_SELECTED | null>(null)
  const ids = state === null ? null : new Set(order.filter((id) => state.ids.has(id)))
  const chooseAll = (): void => setState((now) => now && toggleAll(now, order))

  const move = (event: KeyboardEvent<HTMLElement>, step: 1 | -1): void => {
    const boxes = [...event.currentTarget.querySelectorAll<HTMLInputElement>('input[type="checkbox"]')]
    const at = boxes.findIndex((box) => box === document.activeElement)
    const next = boxes[at + step]
    const id = order[at + step]
    if (at < 0 || next === undefined || id === undefined) return
    event.preventDefault()
    next.focus()
    if (event.shiftKey)
      setState((now) => now && extendTo(now.anchor === null ? toggleRow(now, order[at] ?? id) : now, id, order))
  }

  return {
    ids,
    begin: () => setState(NOTHING_SELECTED),
    end: () => setState(null),
    chooseAll,
    rowOf: (id) =>
      ids === null
        ? undefined
        : {
            isSelected: ids.has(id),
            choose: (withRange) =>
              setState((now) => now && (withRange ? extendTo(now, id, order) : toggleRow(now, id))),
          },
    onKeyDown(event) {
      if (ids === null) return
      if (event.key === 'ArrowDown') move(event, 1)
      else if (event.key === 'ArrowUp') move(event, -1)
      else if (SHORTCUTS.deleteSelectedDocuments.matches(event) && ids.size > 0) onDelete()
      else if (SHORTCUTS.selectAllDocuments.matches(event)) {
        event.preventDefault()
        chooseAll()
      }
    },
  }
}
