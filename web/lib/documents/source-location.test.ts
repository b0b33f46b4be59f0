import { expect, test } from 'vitest'
import { UPLOAD_TYPES } from '#contract/file-types.ts'
import { describeSourceLocation } from './source-location.ts'

const source = {
  n: 1,
  documentId: '0b36b4f0-7d9e-4c3c-8f57-2b1c8a7a2a10',
  filename: 'Lamps.xlsx',
  page: 2,
  start: 10,
  end: 20,
  text: 'Pier | until ten',
  score: 1,
}

test.each([
  ['a page', { ...source, filename: 'lamps.pdf', heading: 'Of oil' }, 'lamps.pdf p.2', 'lamps.pdf page 2'],
  ['a section', { ...source, filename: 'Lamps.DOCX' }, 'Lamps.DOCX · section 2', 'Lamps.DOCX section 2'],
  ['a section of a text', { ...source, filename: 'lamps.txt' }, 'lamps.txt · section 2', 'lamps.txt section 2'],
  [
    'a sheet below its column titles',
    { ...source, heading: 'Of oil: Lamp | Burns' },
    'Lamps.xlsx · Of oil',
    'Lamps.xlsx sheet Of oil',
  ],
  [
    'a sheet from its beginning',
    { ...source, heading: null, start: 0, text: 'Of gas\nPier' },
    'Lamps.xlsx · Of gas',
    'Lamps.xlsx sheet Of gas',
  ],
  ['a sheet that is not named', source, 'Lamps.xlsx · sheet 2', 'Lamps.xlsx sheet 2'],
  ['a picture', { ...source, filename: 'lamps.jpeg', page: 1 }, 'lamps.jpeg', 'lamps.jpeg'],
  [
    'a source with a type',
    { ...source, filename: 'Lamps v1.2', mimetype: UPLOAD_TYPES.xlsx },
    'Lamps v1.2 · sheet 2',
    'Lamps v1.2 sheet 2',
  ],
  ['an unknown file extension', { ...source, filename: 'Lamps v1.2' }, 'Lamps v1.2 p.2', 'Lamps v1.2 page 2'],
])('describes %s', (_name, given, card, spoken) => {
  expect(describeSourceLocation(given, 'card')).toBe(card)
  expect(describeSourceLocation(given, 'spoken')).toBe(spoken)
})

test('describes a renamed document by its type, and a text of one section without a number', () => {
  const renamed = { filename: 'The lamps', mimetype: UPLOAD_TYPES.docx, pages: 3 }
  expect(describeSourceLocation(source, 'footnote', renamed)).toBe('The lamps, section 2')
  expect(describeSourceLocation(source, 'card', { ...renamed, pages: 1 })).toBe('The lamps')
  expect(describeSourceLocation(source, 'card', { ...renamed, mimetype: UPLOAD_TYPES.pdf, pages: 1 })).toBe(
    'The lamps p.2',
  )
})
