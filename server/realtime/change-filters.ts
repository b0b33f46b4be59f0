/** Evaluates the filters of bindings for a batch of changes; equal filters of equal rows once, over all people. */
import { WorkExceeded } from '#server/database/work.ts'
import { matchesBinding } from './bindings.ts'
import type { PublishedTable } from './catalogue.ts'
import { type Binding, type Identified, personOf } from './channels.ts'
import type { ChangeWork, FilterWork } from './filter-work.ts'
import type { Change } from './outbox.ts'
import type { RowValues } from './parse-row.ts'

type FilteredBinding = Pick<Binding, 'filters' | 'filterText'> & { readonly channel: Identified }

export interface ChangeFilters {
  /** Undefined if that takes more work than the binding's person has. @param values equal for equal rows */
  matches(binding: FilteredBinding, change: Change, table: PublishedTable, values: RowValues): boolean | undefined
}

export function createChangeFilters(filterWork: FilterWork): ChangeFilters {
  const works = new WeakMap<Change, ChangeWork>()
  const results = new WeakMap<RowValues, Map<string, boolean>>()

  function workOf(change: Change): ChangeWork {
    const work = works.get(change) ?? filterWork.startChange()
    works.set(change, work)
    return work
  }

  return {
    matches(binding, change, table, values) {
      if (binding.filters.length === 0) return true
      const known = results.get(values) ?? new Map<string, boolean>()
      results.set(values, known)
      const result = known.get(binding.filterText)
      if (result !== undefined) return result
      try {
        const isMatch = matchesBinding(binding, table, values, workOf(change).startFilter(personOf(binding.channel)))
        known.set(binding.filterText, isMatch)
        return isMatch
      } catch (error) {
        // Another person with the same filter may have more.
        if (error instanceof WorkExceeded) return undefined
        throw error
      }
    },
  }
}
