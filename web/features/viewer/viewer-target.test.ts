import { describe, expect, test } from 'vitest'

import { followRequest, goToPage, locationFor } from './viewer-target.ts'

const highlight = { page: 4, start: 10, end: 40, key: 'reply-1:1' }
const request = { documentId: 'a', page: 4, highlight }

describe('followRequest', () => {
  const location = locationFor(request)

  test('opens at the page with the passage on it', () => {
    expect(location.target.page).toBe(4)
    expect(location.passage).toEqual(highlight)
  })

  test('opens at another page than that of the passage, where the person had scrolled on', () => {
    const restored = locationFor({ ...request, page: 7 })
    expect(restored.target.page).toBe(7)
    expect(restored.passage?.page).toBe(4)
  })

  test('stays the same when nothing is asked', () => {
    expect(followRequest(location, { ...request, highlight: { ...highlight } })).toBe(location)
  })

  test('does not take the echo of its own scrolling for a request', () => {
    const scrolled = { ...location, page: 7 }
    const echoed = followRequest(scrolled, { ...request, page: 7 })
    expect(echoed.target).toBe(location.target)
    expect(echoed.passage).toBe(location.passage)
  })

  test('goes to another page that the parent asks for', () => {
    const next = followRequest(location, { ...request, page: 9 })
    expect(next.target).toEqual({ page: 9, request: 1 })
    expect(next.passage).toEqual(location.passage)
  })

  test('goes back to the page it has left when the parent asks for it again', () => {
    const echoed = followRequest({ ...location, page: 7 }, { ...request, page: 7 })
    expect(followRequest(echoed, { ...request, page: 4 }).target.page).toBe(4)
  })

  test('a new passage on the same page is gone to, and keeps its own page while the person scrolls on', () => {
    const next = followRequest(location, { ...request, highlight: { page: 4, start: 90, end: 99, key: 'reply-1:2' } })
    expect(next.target).toEqual({ page: 4, request: 1 })
    const scrolled = followRequest(
      { ...next, page: 5 },
      { ...request, page: 5, highlight: { page: 4, start: 90, end: 99, key: 'reply-1:2' } },
    )
    expect(scrolled.passage?.page).toBe(4)
  })

  test('forgets the passage when none is asked for', () => {
    expect(followRequest(location, { ...request, highlight: null }).passage).toBeNull()
  })

  test('begins anew with another document', () => {
    const next = followRequest({ ...location, page: 30 }, { documentId: 'b', page: 2, highlight: null })
    expect(next).toEqual(locationFor({ documentId: 'b', page: 2, highlight: null }))
  })
})

describe('goToPage', () => {
  test('asking for the same page twice makes two requests', () => {
    const once = goToPage(locationFor(request), 4)
    expect(goToPage(once, 4).target.request).toBe(once.target.request + 1)
  })
})
