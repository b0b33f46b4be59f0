import { describe, expect, test } from 'vitest'
import {
  beforeFreeTurn,
  beforeQuarterTurn,
  isBlank,
  measureSkew,
  type Raster,
  turnFreely,
  turnQuarter,
  whitenPaper,
} from './raster.ts'

function drawLines(width: number, height: number): Raster {
  const pixels = new Uint8Array(width * height).fill(255)
  for (let y = 40; y < height - 40; y += 1)
    for (let x = 40; x < width - 40; x += 1) if (y % 24 < 8 && x % 9 < 6) pixels[y * width + x] = 0
  return { width, height, pixels }
}

describe('turning', () => {
  const raster = { width: 3, height: 2, pixels: new Uint8Array([1, 2, 3, 4, 5, 6]) }

  test.each([
    [90, 2, [4, 1, 5, 2, 6, 3]],
    [180, 3, [6, 5, 4, 3, 2, 1]],
    [270, 2, [3, 6, 2, 5, 1, 4]],
  ] as const)('by %i degrees is clockwise, and the way back is known', (degrees, width, pixels) => {
    const turned = turnQuarter(raster, degrees)
    expect(turned.width).toBe(width)
    expect([...turned.pixels]).toEqual(pixels)
    const back = beforeQuarterTurn({ x: 0, y: 0 }, degrees, { width: 2, height: 1 })
    expect(raster.pixels[back.y * raster.width + back.x]).toBe(turned.pixels[0])
  })

  test('by any angle keeps every corner and is invertible', () => {
    const angle = 0.2
    const turned = turnFreely({ width: 100, height: 60, pixels: new Uint8Array(6_000) }, angle)
    expect(turned.width).toBeGreaterThan(100)
    const middle = beforeFreeTurn({ x: turned.width / 2, y: turned.height / 2 }, angle, turned, {
      width: 100,
      height: 60,
    })
    expect(middle.x).toBeCloseTo(50)
    expect(middle.y).toBeCloseTo(30)
  })
})

test.each([-12, -3, 2, 10])('measures a skew of %i degrees', (degrees) => {
  const angle = (degrees * Math.PI) / 180
  expect(measureSkew(turnFreely(drawLines(900, 700), angle))).toBeCloseTo(angle, 1)
})

test('measures no skew on level lines or an empty page', () => {
  expect(measureSkew(drawLines(900, 700))).toBe(0)
  expect(measureSkew({ width: 50, height: 50, pixels: new Uint8Array(2_500).fill(255) })).toBe(0)
})

test('a page of any single colour is blank', () => {
  const black = new Uint8Array(10_000)
  expect(isBlank({ width: 100, height: 100, pixels: black })).toBe(true)
  expect(isBlank(drawLines(200, 200))).toBe(false)
})

test('shaded paper becomes white and its ink stays dark', () => {
  const pixels = new Uint8Array(64 * 64).fill(170)
  for (let at = 0; at < 64 * 64; at += 16) pixels[at] = 10
  const white = whitenPaper({ width: 64, height: 64, pixels })
  expect(white.pixels[1]).toBe(255)
  expect(white.pixels[0]).toBeLessThan(30)
})
