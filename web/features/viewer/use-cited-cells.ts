import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'

import { pageTextQuery } from '#web/data/documents/document-queries.ts'

import { cellRange, sheetLines } from './sheet-lines.ts'
import type { Passage } from './viewer-target.ts'

/** Range of the workbook cells that contain the passage; null elsewhere. */
export function useCitedCells(documentId: string, isWorkbook: boolean, passage: Passage | null): string | null {
  const { data } = useQuery({
    ...pageTextQuery(documentId, passage?.page ?? 1),
    enabled: isWorkbook && passage !== null,
  })
  return useMemo(() => {
    const lines = data && isWorkbook ? sheetLines(data) : null
    const range = data && lines && passage ? cellRange(data.text, lines, data.columns ?? [], passage) : null
    return range && `Cited: ${range}`
  }, [data, isWorkbook, passage])
}
