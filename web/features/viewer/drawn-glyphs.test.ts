import { OPS } from 'pdfjs-dist'
import { describe, expect, test } from 'vitest'

import { characterEdges, drawnGlyphs, type DrawnGlyph } from './drawn-glyphs.ts'

const glyph = (unicode: string, width: number) => ({ unicode, width, isSpace: unicode === ' ' })
const METRICS = { unit: 0.001, isVertical: false }

const draw = (steps: readonly [operator: number, args: unknown][], metrics = METRICS) =>
  drawnGlyphs({ fnArray: steps.map(([operator]) => operator), argsArray: steps.map(([, args]) => args) }, () => metrics)
const places = (glyphs: readonly DrawnGlyph[]) =>
  glyphs.map(({ text, x, y, endX }) => [text, ...[x, y, endX].map((length) => Math.round(length * 100) / 100)])

describe('drawnGlyphs', () => {
  const aFont: [number, unknown] = [OPS.setFont, ['a', 10]]

  test('moves on by the advance, by what the text says between letters, words and glyphs, and by the stretch', () => {
    const drawn = draw([
      [OPS.beginText, null],
      aFont,
      [OPS.setTextMatrix, [Float32Array.of(1, 0, 0, 1, 100, 700)]],
      [OPS.setCharSpacing, [1]],
      [OPS.setWordSpacing, [2]],
      [OPS.setHScale, [50]],
      [OPS.showText, [[glyph('a', 400), glyph(' ', 200), glyph('b', 600), -100, glyph('c', 500)]]],
    ])
    expect(places(drawn)).toEqual([
      ['a', 100, 700, 102],
      [' ', 102.5, 700, 103.5],
      ['b', 105, 700, 108],
      ['c', 109, 700, 111.5],
    ])
  })

  test('goes on where the operator before ended, and to the lines below', () => {
    const drawn = draw([
      aFont,
      [OPS.moveText, [50, 500]],
      [OPS.showText, [[glyph('a', 400)]]],
      [OPS.showText, [[glyph('b', 400)]]],
      [OPS.setLeadingMoveText, [5, -12]],
      [OPS.showText, [[glyph('c', 400)]]],
      [OPS.nextLine, null],
      [OPS.showText, [[glyph('d', 400)]]],
    ])
    expect(places(drawn).map(([text, x, y]) => [text, x, y])).toEqual([
      ['a', 50, 500],
      ['b', 54, 500],
      ['c', 55, 488],
      ['d', 55, 476],
    ])
  })

  test('comes back to what was saved, also behind a form', () => {
    const shown: [number, unknown] = [OPS.showText, [[glyph('a', 1000)]]]
    const drawn = draw([
      aFont,
      [OPS.save, null],
      [OPS.transform, [2, 0, 0, 2, 30, 40]],
      [OPS.setFont, ['a', 5]],
      [OPS.paintFormXObjectBegin, [[1, 0, 0, 1, 1, 1], null]],
      [OPS.beginText, null],
      shown,
      [OPS.paintFormXObjectEnd, []],
      [OPS.restore, null],
      [OPS.beginText, null],
      shown,
    ])
    expect(places(drawn)).toEqual([
      ['a', 32, 42, 42],
      ['a', 0, 0, 10],
    ])
  })

  test('counts in the units of the font, and leaves out what runs downwards', () => {
    const steps: [number, unknown][] = [aFont, [OPS.showText, [[glyph('a', 20)]]]]
    expect(places(draw(steps, { unit: 0.05, isVertical: false }))).toEqual([['a', 0, 0, 10]])
    expect(draw(steps, { unit: 0.001, isVertical: true })).toEqual([])
  })
})

describe('characterEdges', () => {
  const at = (text: string, x: number, endX: number, y = 0): DrawnGlyph => ({ text, x, y, endX, endY: y })
  const item = (text: string, width: number) => ({ text, width, transform: [10, 0, 0, 10, 100, 0] })

  test('begins every character where it is drawn, however wide the spaces are', () => {
    const drawn = [at('a', 100, 105), at('b', 108, 110), at(' ', 110, 112), at('c', 115, 120)]
    expect(characterEdges(item('a b c', 20), drawn)).toEqual([0, 0.25, 0.4, 0.5, 0.75, 1])
  })

  test('finds the beginning among the same letters elsewhere, and where something else begins there too', () => {
    const drawn = [at('a', 100, 104, 50), at('x', 100, 104), at('b', 104, 110), at('a', 101, 105), at('b', 105, 110)]
    expect(characterEdges(item('ab', 10), drawn)).toEqual([0.1, 0.5, 1])
  })

  test('divides a ligature among its letters', () => {
    expect(characterEdges(item('affi', 10), [at('a', 100, 104), at('ffi', 104, 110)])).toEqual([0, 0.4, 0.6, 0.8, 1])
  })

  test('follows a line that is turned', () => {
    const drawn = [
      { text: 'a', x: 100, y: 0, endX: 100, endY: 5 },
      { text: 'b', x: 100, y: 5, endX: 100, endY: 10 },
    ]
    expect(characterEdges({ text: 'ab', width: 10, transform: [0, 10, -10, 0, 100, 0] }, drawn)).toEqual([0, 0.5, 1])
  })

  test('knows nothing of a text that the glyphs do not spell', () => {
    expect(characterEdges(item('ax', 10), [at('a', 100, 105), at('b', 105, 110)])).toBeNull()
    expect(characterEdges(item('ab', 10), [at('a', 100, 105)])).toBeNull()
  })

  test.each(['漢字', 'かな', 'カナ', '보험'])('knows where the signs of %s stand', (text) => {
    const [one = '', other = ''] = text
    expect(characterEdges(item(text, 20), [at(one, 100, 108), at(other, 112, 120)])).toEqual([0, 0.6, 1])
  })

  test.each(['سلام', 'नमस्ते'])('leaves %s to the browser, whose letters join', (text) => {
    const drawn = Array.from(text).map((letter, index) => at(letter, 100 + 5 * index, 105 + 5 * index))
    expect(characterEdges(item(text, 5 * drawn.length), drawn)).toBeNull()
  })
})
