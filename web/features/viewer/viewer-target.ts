/** The location that a citation, the page field or an arrow requests. */

/** A passage of one page, `[start, end)` in UTF-16 code units of its text; a new `key` requests it again. */
export interface Passage {
  page: number
  start: number
  end: number
  key: string
}

export interface ReaderTarget {
  page: number
  /** Counter, so that requesting a page twice scrolls there twice. */
  request: number
}

export interface ReaderPlace {
  documentId: string
  /** The page that the parent gave last. */
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
 * Applies the parent's request. A page that repeats the page in view is no request, so a parent may feed
 * `onPageChange` back into `page` while the person scrolls. Returns its argument when nothing is new.
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
