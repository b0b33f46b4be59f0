import { useQueries, useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query'
import { useCallback, useMemo, useState } from 'react'

import type { PageText } from '#contract/document.ts'
import { pageTextQuery, retryParts, sheetTextQuery, type PlaceInSheet } from '#web/data/documents/document-queries.ts'

import { holdsPassage, joinParts, type SheetLines } from './sheet-lines.ts'
import type { Passage } from './viewer-target.ts'

interface SectionText {
  section: UseQueryResult<PageText | null>
  text: string | undefined
  /** Null for all but sheets, and for sheets of which the positions of rows are unknown. */
  lines: SheetLines | null
  columns: readonly number[]
  /** Those of a long sheet: see `sheetPart`. */
  widths: readonly number[] | undefined
  /** Further parts of a long sheet. */
  parts: { isLoading: boolean; hasFailed: boolean; load: (rows: readonly number[]) => void; retry: () => void }
}

/** The text of a section; of a long sheet the rows around the passage, else the first ones, and those asked for. */
export function useSectionText(
  documentId: string,
  page: number,
  { isSheet, passage }: { isSheet: boolean; passage: Passage | null },
): SectionText {
  const queryClient = useQueryClient()
  const [opened] = useState<PlaceInSheet>(() => (passage === null ? { row: 0 } : { near: passage.start }))
  const [asked, setAsked] = useState<readonly PlaceInSheet[]>([])
  const section = useQuery(isSheet ? sheetTextQuery(documentId, page, opened) : pageTextQuery(documentId, page))
  // Keeps a text that was read whole, for printing and for other passages.
  useQuery({ ...pageTextQuery(documentId, page), enabled: false })
  const first = section.data
  const isNear = (place: PlaceInSheet): boolean => 'near' in place && place.near === passage?.start
  if (first && passage !== null && !holdsPassage(first, passage) && !asked.some(isNear))
    setAsked([...asked, { near: passage.start }])
  const { loaded, isLoading, hasFailed } = useQueries({
    queries: asked.map((place) => sheetTextQuery(documentId, page, place)),
    combine: combineParts,
  })
  const { text, lines } = useMemo(
    () => (first ? joinParts([first, ...loaded]) : { text: undefined, lines: null }),
    [first, loaded],
  )
  const load = useCallback(
    (rows: readonly number[]) =>
      setAsked((before) => {
        const known = new Set(before.map((place) => ('row' in place ? place.row : -1)))
        return [...before, ...rows.filter((row) => !known.has(row)).map((row) => ({ row }))]
      }),
    [],
  )
  const retry = (): void => void retryParts(queryClient, documentId, page)
  return {
    section,
    text,
    lines,
    columns: first?.columns ?? [],
    widths: first?.part?.widths,
    parts: { isLoading, hasFailed, load, retry },
  }
}

const combineParts = (results: readonly UseQueryResult<PageText | null>[]) => ({
  loaded: results.flatMap(({ data }) => (data ? [data] : [])),
  isLoading: results.some(({ isFetching }) => isFetching),
  hasFailed: results.some(({ isError, isFetching }) => isError && !isFetching),
})
