import { characterEdges, type DrawnGlyph } from './drawn-glyphs.ts'
import type { TextLayerItem } from './use-text-layer.ts'

/** A large size keeps rounding errors small. */
const MEASURED_AT_PX = 100

let context: CanvasRenderingContext2D | null = null

/** The width of a text in a browser font, in em. */
function measureEms(text: string, fontFamily: string): number {
  context ??= document.createElement('canvas').getContext('2d')
  if (!context) return Number.NaN
  context.font = `${MEASURED_AT_PX}px ${fontFamily}`
  return context.measureText(text).width / MEASURED_AT_PX
}

/** Changes letter spacing, so that marks and selections cover the drawn glyphs. The text stays unchanged. */
export function fitTextItem({ element, layout }: TextLayerItem, drawn: readonly DrawnGlyph[]): void {
  const text = element.textContent
  if (element.childElementCount > 0 || !layout) return
  const edges = characterEdges(layout, drawn)
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
