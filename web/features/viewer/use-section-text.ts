import { useQueries, useQuery, type UseQueryResult } from '@tanstack/react-query'
import { useCallback, useMemo, useState } from 'react'

import type { PageText } from '#contract/document.ts'
import { pageTextQuery, sheetTextQuery, type PlaceInSheet } from '#web/data/documents/document-queries.ts'

import { joinParts, type SheetLines } from './sheet-lines.ts'
import type { Passage } from './viewer-target.ts'

interface SectionText {
  section: UseQueryResult<PageText | null>
  text: string | undefined
  /** Null for all but sheets, and for sheets of which the positions of rows are unknown. */
  lines: SheetLines | null
  columns: readonly number[]
  /** Loads the parts of a long sheet with these rows. */
  loadRows: (rows: readonly number[]) => void
}

/** The text of a section; of a long sheet the rows around the passage, else the first ones, and those asked for. */
export function useSectionText(
  documentId: string,
  page: number,
  { isSheet, passage }: { isSheet: boolean; passage: Passage | null },
): SectionText {
  const [opened] = useState<PlaceInSheet>(() => (passage === null ? { row: 0 } : { near: passage.start }))
  const [asked, setAsked] = useState<readonly number[]>([])
  const section = useQuery(isSheet ? sheetTextQuery(documentId, page, opened) : pageTextQuery(documentId, page))
  const first = section.data
  const { data: citedPart } = useQuery({
    ...sheetTextQuery(documentId, page, { near: passage?.start ?? 0 }),
    enabled: first != null && passage !== null && !holds(first, passage),
  })
  const further = useQueries({
    queries: asked.map((row) => sheetTextQuery(documentId, page, { row })),
    combine: loadedParts,
  })
  const { text, lines } = useMemo(
    () =>
      first ? joinParts([first, ...(citedPart ? [citedPart] : []), ...further]) : { text: undefined, lines: null },
    [first, citedPart, further],
  )
  const loadRows = useCallback(
    (rows: readonly number[]) => setAsked((before) => [...new Set([...before, ...rows])]),
    [],
  )
  return { section, text, lines, columns: first?.columns ?? [], loadRows }
}

const loadedParts = (results: readonly UseQueryResult<PageText | null>[]): PageText[] =>
  results.flatMap(({ data }) => (data ? [data] : []))

/** Whether the part has the rows of the passage; the row before its first one tells where that begins. */
function holds({ part, rows = [], text }: PageText, passage: Passage): boolean {
  if (!part) return true
  const begin = part.first === 0 ? 0 : (rows[1]?.[0] ?? part.start)
  return passage.start >= begin && passage.end <= part.start + text.length
}
