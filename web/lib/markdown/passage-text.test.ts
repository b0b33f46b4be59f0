import { expect, test } from 'vitest'
import { passageText } from './passage-text.ts'

test.each([
  ['Totals |  |  | 45', 'Totals | 45'],
  ['Lamp | Burns\n |  | \nPier | until ten', 'Lamp | Burns\n\nPier | until ten'],
  ['| Form | | | Date |', 'Form | Date'],
  ['a||b and x | y', 'a||b and x | y'],
  ['供应\n商的交货期', '供应商的交货期'],
  ['No table at all.\nNor here.', 'No table at all.\nNor here.'],
])('%j is shown as %j', (text, words) => {
  expect(passageText(text)).toBe(words)
})
