import { OPS } from 'pdfjs-dist'
import { describe, expect, test } from 'vitest'

import { characterEdges, glyphAdvances } from './glyph-advances.ts'

describe('glyphAdvances', () => {
  test('keeps the fonts apart, also where a saved one comes back', () => {
    const shown = (unicode: string, width: number) => [[{ unicode, width }, -20]]
    const advances = glyphAdvances({
      fnArray: [OPS.setFont, OPS.showText, OPS.save, OPS.setFont, OPS.showText, OPS.restore, OPS.showText],
      argsArray: [['narrow', 12], shown('a', 400), null, ['wide', 12], shown('a', 700), null, shown('b', 300)],
    })
    expect(advances).toEqual(
      new Map([
        ['narrow', new Map([['a', 400], ['b', 300]])], // prettier-ignore
        ['wide', new Map([['a', 700]])],
      ]),
    )
  })
})

describe('characterEdges', () => {
  const advances = new Map([
    ['a', 500],
    ['b', 250],
    ['ffi', 750],
  ])

  test('gives what is left over to the spaces', () => {
    expect(characterEdges('a b', advances, 1000)).toEqual([0, 0.5, 0.75, 1])
  })

  test('gives it to the letters of a single word', () => {
    expect(characterEdges('ab', advances, 1000)).toEqual([0, 0.625, 1])
  })

  test('divides a ligature among its letters', () => {
    expect(characterEdges('affi', advances, 1250)).toEqual([0, 0.4, 0.6, 0.8, 1])
  })

  test('knows nothing of a text with a character that the page does not show', () => {
    expect(characterEdges('ax', advances, 1000)).toBeNull()
  })
})
