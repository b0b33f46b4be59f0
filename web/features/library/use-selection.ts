import { useMutation } from '@tanstack/react-query'
import { useEffect, useMemo, useState, type KeyboardEvent } from 'react'
import type { DocumentRow, NamedDocument } from '#contract/document.ts'
import type { Space } from '#web/data/current-space.ts'
import { onDocumentChange } from '#web/data/documents/document-changes.ts'
import { readNames } from '#web/data/documents/document-queries.ts'
import { isNameMatching } from '#web/lib/documents/document-order.ts'
import { SHORTCUTS } from '#web/lib/shortcuts.ts'
import { toast } from '#web/ui/toast.tsx'
import { addRows, changeSelected, extendTo, NOTHING_SELECTED, toggleRow, type Selection } from './selection.ts'

export interface RowSelection {
  readonly isSelected: boolean
  /** `withRange`: Shift was held. */
  readonly choose: (withRange: boolean) => void
}

interface ShownList {
  /** The loaded rows in display order. */
  readonly rows: readonly DocumentRow[]
  readonly hasMore: boolean
  /** The rows are not yet those of the search. */
  readonly isOutdated: boolean
  readonly space: Space
  readonly search: string
}

interface ListSelection {
  /** The selected documents that match the search; null while not in selection mode. */
  readonly chosen: readonly NamedDocument[] | null
  readonly isAll: boolean
  begin: () => void
  end: () => void
  /** Selects all that match the search, loaded or not; none where all are. */
  chooseAll: () => void
  rowOf: (row: DocumentRow) => RowSelection | undefined
  /** Arrow keys move, with Shift they select; Ctrl+A selects all, Delete asks for confirmation. */
  onKeyDown: (event: KeyboardEvent<HTMLElement>) => void
}

interface SelectionOptions {
  readonly shown: ShownList
  readonly onDelete: () => void
  /** Draws a row, if necessary, and focuses it. */
  readonly focusRow: (index: number) => void
}

export function useSelection({ shown, onDelete, focusRow }: SelectionOptions): ListSelection {
  const { rows, space, search } = shown
  const [state, setState] = useState<Selection | null>(null)
  /** The search whose documents were all selected, also those that are not loaded. */
  const [wholeSearch, setWholeSearch] = useState<string | null>(null)
  const readAll = useMutation({ mutationFn: (wanted: string) => readNames(wanted, space) })

  const isOn = state !== null
  useEffect(() => {
    if (!isOn) return
    return onDocumentChange((ids, change) => setState((now) => now && changeSelected(now, ids, change)))
  }, [isOn])

  const chosen = useMemo(
    () => state && [...state.documents.values()].filter((document) => isNameMatching(document, search)),
    [state, search],
  )
  const isWhole = !shown.isOutdated && (!shown.hasMore || wholeSearch === search)
  const isAll = isWhole && rows.every(({ id }) => state?.documents.has(id) === true)

  const change = (next: (now: Selection) => Selection): void => setState((now) => now && next(now))
  const chooseAll = (): void => {
    if (isAll) {
      setWholeSearch(null)
      return change(() => NOTHING_SELECTED)
    }
    if (isWhole) return change((now) => addRows(now, rows))
    readAll.mutate(search, {
      onSuccess: (all) => {
        setWholeSearch(search)
        change((now) => addRows(now, all))
      },
      onError: (error) => {
        console.error(error)
        toast({
          title: 'Error',
          description: 'Failed to select all documents. Please try again.',
          variant: 'destructive',
        })
      },
    })
  }
  const choose = (row: DocumentRow, withRange: boolean): void => {
    // Those that are not loaded may now be fewer than all.
    setWholeSearch(null)
    change((now) => (withRange ? extendTo(now, row.id, rows) : toggleRow(now, row)))
  }

  const move = (event: KeyboardEvent<HTMLElement>, step: 1 | -1): void => {
    const at = focusedIndex(event.currentTarget)
    const [row, next] = [rows[at], rows[at + step]]
    if (row === undefined || next === undefined) return
    event.preventDefault()
    focusRow(at + step)
    if (event.shiftKey) change((now) => extendTo(now.anchor === null ? toggleRow(now, row) : now, next.id, rows))
  }

  return {
    chosen,
    isAll,
    begin: () => setState(NOTHING_SELECTED),
    end: () => {
      setState(null)
      setWholeSearch(null)
    },
    chooseAll,
    rowOf: (row) =>
      state === null
        ? undefined
        : { isSelected: state.documents.has(row.id), choose: (withRange) => choose(row, withRange) },
    onKeyDown(event) {
      if (chosen === null) return
      if (event.key === 'ArrowDown') move(event, 1)
      else if (event.key === 'ArrowUp') move(event, -1)
      else if (SHORTCUTS.deleteSelectedDocuments.matches(event) && chosen.length > 0) onDelete()
      else if (SHORTCUTS.selectAllDocuments.matches(event)) {
        event.preventDefault()
        chooseAll()
      }
    },
  }
}

/** The index of the row whose checkbox has the focus; -1 if none has. */
function focusedIndex(list: HTMLElement): number {
  const box = document.activeElement
  const row = box?.matches('input[type="checkbox"]') === true && list.contains(box) ? box.closest('[data-index]') : null
  return Number(row?.getAttribute('data-index') ?? -1)
}
