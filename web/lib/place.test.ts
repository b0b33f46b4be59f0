import { expect, it } from 'vitest'
import { addressOf, parsePlace } from './place.ts'

const chatId = '0b0c4c1e-4f5a-4b7c-8a51-3f6f6f1f0a01'
const documentId = '7f1e0d7a-93f9-4cbb-9c0e-0d3c1a8b2c02'

it('survives the way into the address and back', () => {
  for (const place of [
    { chatId, documentId, page: 7 },
    { chatId, documentId: null, page: 1 },
    { chatId: null, documentId, page: 1 },
  ]) {
    expect(parsePlace(addressOf(place).slice(1))).toEqual(place)
  }
  expect(addressOf({ chatId: null, documentId: null, page: 3 })).toBe('/')
})

it('ignores what is no id or no page', () => {
  expect(parsePlace('?chat=1%20or%201&doc=x&page=9')).toEqual({ chatId: null, documentId: null, page: 1 })
  expect(parsePlace(`?doc=${documentId}&page=-2`)).toEqual({ chatId: null, documentId, page: 1 })
})
