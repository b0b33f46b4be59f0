import { expect, test } from 'vitest'
import { placeInFile } from './source-place.ts'

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
  ['a page', { ...source, filename: 'lamps.pdf', heading: 'Of oil' }, 'p.2'],
  ['a sheet below its column titles', { ...source, heading: 'Of oil: Lamp | Burns' }, '· Of oil'],
  ['a sheet from its beginning', { ...source, heading: null, start: 0, text: 'Of gas\nPier' }, '· Of gas'],
  ['a sheet that is not named', source, 'p.2'],
])('%s is called as people know it', (_name, given, called) => {
  expect(placeInFile(given, { page: 'p.', sheet: '· ' })).toBe(called)
})
