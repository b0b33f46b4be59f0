import { keepPreviousData, useQuery } from '@tanstack/react-query'

import { UNSURE_BELOW, type DocumentRow } from '#contract/document.ts'
import { pageTextQuery } from '#web/data/documents/document-queries.ts'

/** Says that a page was read by OCR, and whether well; null where it was not, or nothing was found on it. */
export function useTextOrigin(document: DocumentRow | null, page: number): string | null {
  const hasRecognised = (document?.readability?.by_ocr ?? 0) > 0
  const { data } = useQuery({
    ...pageTextQuery(document?.id ?? '', page),
    enabled: hasRecognised,
    // What was said of the page before stays until this one is known, or the line would blink while scrolling.
    placeholderData: keepPreviousData,
  })
  if (!hasRecognised || data?.confidence === undefined || data.text.trim() === '') return null
  return data.confidence < UNSURE_BELOW ? 'Read by text recognition, unsure' : 'Read by text recognition'
}
