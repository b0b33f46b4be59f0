import { characterEdges, type DrawnGlyph } from './drawn-glyphs.ts'
import type { TextLayerItem } from './use-text-layer.ts'

/** Any size will do; a large one has small rounding errors. */
const MEASURED_AT_PX = 100

let context: CanvasRenderingContext2D | null = null

/** How wide a text is in a font of the browser, in sizes of the font. */
function measureEms(text: string, fontFamily: string): number {
  context ??= document.createElement('canvas').getContext('2d')
  if (!context) return Number.NaN
  context.font = `${MEASURED_AT_PX}px ${fontFamily}`
  return context.measureText(text).width / MEASURED_AT_PX
}

/**
 * Moves the words of one element of the text layer to where the page shows them, by the spacing of their letters, so that
 * what is marked or selected covers what is seen. The text stays the same.
 */
export function fitTextItem({ element, place }: TextLayerItem, drawn: readonly DrawnGlyph[]): void {
  const text = element.textContent
  if (element.childElementCount > 0 || !place) return
  const edges = characterEdges(place, drawn)
  const { fontFamily } = getComputedStyle(element)
  const whole = measureEms(text, fontFamily)
  if (!edges || !(whole > 0)) return
  const words = [...text.matchAll(/\s+|\S+/g)].map(({ 0: word, index }) => {
    const piece = document.createElement('data')
    piece.textContent = word
    const share = (edges[index + word.length] ?? 1) - (edges[index] ?? 0)
    piece.style.letterSpacing = `${(share * whole - measureEms(word, fontFamily)) / Array.from(word).length}em`
    return piece
  })
  element.replaceChildren(...words)
}
