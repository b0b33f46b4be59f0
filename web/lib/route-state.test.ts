import { expect, it } from 'vitest'
import { formatRoute, hasInvalidConversationId, NO_DOCUMENT, parseRouteState } from './route-state.ts'

const chatId = '0b0c4c1e-4f5a-4b7c-8a51-3f6f6f1f0a01'
const spaceId = '5a9c2f10-7b1d-4f0e-8c33-2d4e6f8a0b04'
const documentId = '7f1e0d7a-93f9-4cbb-9c0e-0d3c1a8b2c02'
const messageId = '3d6a1b52-0a55-4a0e-9f0e-4f5d2c9e3b03'
const passage = { page: 4, start: 0, end: 61 }

it('round-trips through the address', () => {
  for (const route of [
    { spaceId, chatId, documentId, page: 7, passage, source: { messageId, n: 2 } },
    { spaceId: null, chatId: null, documentId, page: 4, passage, source: null },
    { spaceId, chatId, documentId, page: 7, passage: null, source: null },
    { spaceId: null, chatId, ...NO_DOCUMENT },
    { spaceId, chatId: null, ...NO_DOCUMENT },
  ]) {
    expect(parseRouteState(formatRoute(route).slice(1))).toEqual(route)
  }
  expect(formatRoute({ spaceId: null, chatId: null, ...NO_DOCUMENT, page: 3 })).toBe('/')
})

it('ignores invalid ids and pages', () => {
  expect(parseRouteState('?space=x&chat=1%20or%201&doc=x&page=9&mark=1.0.9')).toEqual({
    spaceId: null,
    chatId: null,
    ...NO_DOCUMENT,
  })
  expect(parseRouteState(`?doc=${documentId}&page=-2`)).toEqual({
    spaceId: null,
    chatId: null,
    ...NO_DOCUMENT,
    documentId,
  })
})

it.each(['', '4.9', '0.1.9', '4.9.9', '4.-1.9', '4.1.9.2', '4.1.99999999999999999999', 'x'])(
  'ignores the mark "%s", and a source without one',
  (mark) => {
    const route = parseRouteState(`?doc=${documentId}&page=4&mark=${mark}&source=${messageId}.1`)
    expect(route).toEqual({ spaceId: null, chatId: null, ...NO_DOCUMENT, documentId, page: 4 })
  },
)

it.each(['', messageId, `${messageId}.0`, 'x.1'])('ignores the source "%s"', (source) => {
  expect(parseRouteState(`?doc=${documentId}&page=4&mark=4.0.61&source=${source}`).source).toBeNull()
})

it('distinguishes a truncated conversation id from none', () => {
  expect(hasInvalidConversationId(`?chat=${chatId.slice(0, 20)}`)).toBe(true)
  expect(hasInvalidConversationId(`?chat=${chatId}`)).toBe(false)
  expect(hasInvalidConversationId(`?doc=${documentId}`)).toBe(false)
})
