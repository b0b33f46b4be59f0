import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'

import { sheetTextQuery } from '#web/data/documents/document-queries.ts'

import { cellRange, holdsPassage, joinParts } from './sheet-lines.ts'
import type { Passage } from './viewer-target.ts'

/** Range of the workbook cells that contain the passage; null elsewhere. */
export function useCitedCells(documentId: string, isWorkbook: boolean, passage: Passage | null): string | null {
  const { data } = useQuery({
    ...sheetTextQuery(documentId, passage?.page ?? 1, { near: passage?.start ?? 0 }),
    enabled: isWorkbook && passage !== null,
  })
  return useMemo(() => {
    if (!data || !isWorkbook || !passage || !holdsPassage(data, passage)) return null
    const { text, lines } = joinParts([data])
    const range = lines && cellRange(text, lines, data.columns ?? [], passage)
    return range && `Cited: ${range}`
  }, [data, isWorkbook, passage])
}
