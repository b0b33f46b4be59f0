import { expect, test } from 'vitest'
import type { PlacedItem } from './lines.ts'
import { readLinks } from './notes.ts'
import { placeLinks } from './place-links.ts'

test('many links on a page with much text take little time', () => {
  const items = Array.from({ length: 3_000 }, (_, index): PlacedItem => ({
    ...{ index, offset: 0, text: 'many words of a long line '.repeat(4), from: 50, to: 550, down: -20 - index },
    ...{ height: 10, angle: 0, endsLine: true, fontName: 'f' },
  }))
  const quads = (count: number) =>
    Array.from({ length: count }, () => [9_000, 20, 9_100, 20, 9_000, 8, 9_100, 8]).flat()
  const links = readLinks(
    Array.from({ length: 50 }, (_, index) => ({
      subtype: 'Link',
      rect: [0, 0, 1, 1],
      url: `https://example.org/${index}`,
      quadPoints: quads(200),
    })),
  )
  expect(links.flatMap(({ rectangles }) => rectangles)).toHaveLength(1_000)
  const started = performance.now()
  expect(placeLinks(items, links).items).toHaveLength(3_000)
  expect(performance.now() - started).toBeLessThan(4_000)
})
