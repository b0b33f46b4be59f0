import { OPS } from 'pdfjs-dist'
import { z } from 'zod'

/** How far each character of a font moves on, in thousandths of its size. */
export type Advances = ReadonlyMap<string, number>

const glyph = z.object({ unicode: z.string(), width: z.number() })
const glyphs = z.tuple([z.array(z.unknown())])
const fontChoice = z.tuple([z.string()]).rest(z.unknown())

interface Operators {
  readonly fnArray: readonly number[]
  readonly argsArray: readonly unknown[]
}

/**
 * The advances that a page is drawn with, by the names of its fonts: the text layer stands in whatever font the browser
 * has, and its own advances are others.
 */
export function glyphAdvances({ fnArray, argsArray }: Operators): Map<string, Map<string, number>> {
  const byFont = new Map<string, Map<string, number>>()
  const outer: string[] = []
  let font = ''
  fnArray.forEach((operator, index) => {
    const args = argsArray[index]
    if (operator === OPS.save) outer.push(font)
    else if (operator === OPS.restore) font = outer.pop() ?? ''
    else if (operator === OPS.setFont) font = fontChoice.safeParse(args).data?.[0] ?? ''
    else if (operator === OPS.showText) {
      const advances = byFont.get(font) ?? new Map<string, number>()
      byFont.set(font, advances)
      // Numbers among the glyphs move the next one; they belong to no character.
      for (const shown of glyphs.safeParse(args).data?.[0] ?? []) {
        const { data } = glyph.safeParse(shown)
        if (data) advances.set(data.unicode, data.width)
      }
    }
  })
  return byFont
}

/**
 * Where each UTF-16 code unit of a text begins, and where the last one ends, as shares of the width of the text. What the
 * characters leave of `width` (in thousandths of the font's size) was put between the words or, in a single word, between
 * the letters. Null where a character is of unknown width.
 */
export function characterEdges(text: string, advances: Advances, width: number): number[] | null {
  const widths: number[] = []
  let known = 0
  for (let at = 0; at < text.length;) {
    const [unit, advance] = longestKnown(text, at, advances)
    if (advance === undefined && unit.trim() !== '') return null
    known += advance ?? 0
    for (let part = 0; part < unit.length; part += 1) widths.push((advance ?? 0) / unit.length)
    at += unit.length
  }
  const takes = /\s/.test(text) ? (index: number) => isSpace(text[index] ?? '') : () => true
  const rest = (width - known) / Math.max(1, widths.filter((_, index) => takes(index)).length)
  let edge = 0
  const edges = [0]
  widths.forEach((advance, index) => {
    edge += advance + (takes(index) ? rest : 0)
    edges.push(edge / width)
  })
  return edges
}

const isSpace = (character: string): boolean => /^\s$/.test(character)

/** One glyph may stand for several characters, as ligatures do. */
function longestKnown(text: string, at: number, advances: Advances): [unit: string, advance: number | undefined] {
  for (const length of [3, 2]) {
    const unit = text.slice(at, at + length)
    const advance = advances.get(unit)
    if (unit.length === length && advance !== undefined && !advances.has(unit.charAt(0))) return [unit, advance]
  }
  const single = String.fromCodePoint(text.codePointAt(at) ?? 0)
  return [single, advances.get(single)]
}
