import { keepPreviousData, useQuery } from '@tanstack/react-query'

import { UNSURE_BELOW, type DocumentRow } from '#contract/document.ts'
import { pageTextQuery } from '#web/data/documents/document-queries.ts'

/** Note on pages read by OCR and their confidence; null for other pages and for those without text. */
export function useTextOrigin(document: DocumentRow | null, page: number): string | null {
  const hasRecognised = (document?.readability?.by_ocr ?? 0) > 0
  const { data } = useQuery({
    ...pageTextQuery(document?.id ?? '', page),
    enabled: hasRecognised,
    // Keeps the note of the previous page while loading, so that it does not flicker on scrolling.
    placeholderData: keepPreviousData,
  })
  if (!hasRecognised || data?.confidence === undefined || data.text.trim() === '') return null
  return data.confidence < UNSURE_BELOW ? 'Read by text recognition, unsure' : 'Read by text recognition'
}
