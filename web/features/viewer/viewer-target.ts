/** Where the reader was asked to go, by a citation, the page field or an arrow. */

/** A passage of one page, `[start, end)` in UTF-16 code units of that page's text; another `key` asks to go there again. */
export interface Passage {
  page: number
  start: number
  end: number
  key: string
}

export interface ReaderTarget {
  page: number
  /** Counts requests, so that asking for the same page twice goes there twice. */
  request: number
}

export interface ReaderPlace {
  documentId: string
  /** The page as the parent last gave it. */
  askedPage: number
  target: ReaderTarget
  passage: Passage | null
  /** The page in view. */
  page: number
}

interface ReaderRequest {
  documentId: string
  page: number
  highlight: Passage | null
}

export function placeFor({ documentId, page, highlight }: ReaderRequest): ReaderPlace {
  return {
    documentId,
    askedPage: page,
    target: { page, request: 0 },
    passage: highlight,
    page,
  }
}

/**
 * Takes up what the parent asks for. A page that merely repeats what the reader itself reported is no request, so a
 * parent may feed `onPageChange` back into `page` while the person scrolls. Returns the same place when nothing is new.
 */
export function followRequest(place: ReaderPlace, request: ReaderRequest): ReaderPlace {
  if (request.documentId !== place.documentId) return placeFor(request)
  if (request.highlight && request.highlight.key !== place.passage?.key) {
    const next = placeFor(request)
    return { ...next, target: { page: request.page, request: place.target.request + 1 } }
  }
  const passage = request.highlight ? place.passage : null
  if (request.page === place.askedPage) return passage === place.passage ? place : { ...place, passage }
  const asked = { ...place, passage, askedPage: request.page }
  return request.page === place.page ? asked : goToPage(asked, request.page)
}

export function goToPage(place: ReaderPlace, page: number): ReaderPlace {
  return { ...place, page, target: { page, request: place.target.request + 1 } }
}
