import { expect, test } from 'vitest'
import { readLastSpace, storeLastSpace } from './last-space.ts'

const SPACE = 'e2d0c7a4-1f0b-4c39-9a51-0d6f1c1b2a33'

test('the last space is remembered for each person', () => {
  storeLastSpace('ada', SPACE)
  expect([readLastSpace('ada'), readLastSpace('ben')]).toEqual([SPACE, null])
  storeLastSpace('ada', null)
  expect(readLastSpace('ada')).toBeNull()
})

test('a stored text that is no id opens what is personal', () => {
  storeLastSpace('ada', 'no id & more')
  expect(readLastSpace('ada')).toBeNull()
})
