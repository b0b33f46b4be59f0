import { expect, test } from 'vitest'
import { drawText } from '#test/make-scan.ts'
import { findStretches } from './read-mixed-lines.ts'
import { loadTesseract, type Word } from './tesseract.ts'

const BAND = { left: 300, right: 700, top: 100, bottom: 150 }

const word = (text: string, left: number, width: number): Word => ({
  text,
  left,
  width,
  top: 110,
  height: 30,
  confidence: 90,
  line: '1.1.1',
  paragraph: '1.1',
})

test('returns the ink between syllables as a stretch', () => {
  expect(findStretches([word('YGE', 320, 60), word('소속', 390, 50), word('2x', 450, 40)], BAND)).toEqual([
    { ...BAND, right: 390 },
    { ...BAND, left: 440 },
  ])
})

test('returns no reversed stretch for overlapping syllables or two lines', () => {
  const words = [word('써', 668, 21), word('=', 444, 18), word('노스', 629, 74), word('+', 640, 9)]
  expect(findStretches(words, BAND)).toEqual([
    { ...BAND, right: 629 },
    { ...BAND, left: 703, right: 703 },
  ])
  for (const { left, right } of findStretches([word('a', 300, 9), word('써', 290, 900), word('b', 400, 9)], BAND))
    expect(right).toBeGreaterThanOrEqual(left)
})

test('empty parts yield no words and do not abort the engine', async () => {
  const tesseract = await loadTesseract()
  const raster = await drawText('The notice period of this contract is three months.')
  const [none, backwards, all] = tesseract.readBlocks(
    raster,
    [
      { left: 300, right: 300, top: 100, bottom: 150 },
      { left: 600, right: 400, top: 100, bottom: 150 },
      { left: 0, right: raster.width, top: 0, bottom: raster.height },
    ],
    ['eng'],
  )
  expect([none, backwards]).toEqual([[], []])
  expect(all?.map(({ text }) => text).join(' ')).toContain('three months')
})
