/** The location that a citation, the page field or an arrow requests. */

/** A passage of one page, `[start, end)` in UTF-16 code units of its text; a new `key` requests it again. */
export interface Passage {
  page: number
  start: number
  end: number
  key: string
}

export interface ViewerTarget {
  page: number
  /** Counter, so that requesting a page twice scrolls there twice. */
  request: number
}

export interface ViewerLocation {
  documentId: string
  /** The page that the parent gave last. */
  requestedPage: number
  target: ViewerTarget
  passage: Passage | null
  /** The page in view. */
  page: number
}

interface ViewerRequest {
  documentId: string
  page: number
  highlight: Passage | null
}

export function locationFor({ documentId, page, highlight }: ViewerRequest): ViewerLocation {
  return {
    documentId,
    requestedPage: page,
    target: { page, request: 0 },
    passage: highlight,
    page,
  }
}

/**
 * Applies the parent's request. A page that repeats the page in view is no request, so a parent may feed
 * `onPageChange` back into `page` while the person scrolls. Returns its argument when nothing is new.
 */
export function followRequest(location: ViewerLocation, request: ViewerRequest): ViewerLocation {
  if (request.documentId !== location.documentId) return locationFor(request)
  if (request.highlight && request.highlight.key !== location.passage?.key) {
    const next = locationFor(request)
    return { ...next, target: { page: request.page, request: location.target.request + 1 } }
  }
  const passage = request.highlight ? location.passage : null
  if (request.page === location.requestedPage) return passage === location.passage ? location : { ...location, passage }
  const next = { ...location, passage, requestedPage: request.page }
  return request.page === location.page ? next : goToPage(next, request.page)
}

export function goToPage(location: ViewerLocation, page: number): ViewerLocation {
  return { ...location, page, target: { page, request: location.target.request + 1 } }
}
