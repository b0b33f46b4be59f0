import { OPS } from 'pdfjs-dist'
import { z } from 'zod'

/** A glyph as the page draws it: lengths at scale 1; `x` and `y` are the start of its advance. */
export interface DrawnGlyph {
  /** Its characters; a ligature has several. */
  text: string
  x: number
  y: number
  /** The end of its advance. */
  endX: number
  endY: number
}

export interface FontMetrics {
  /** Factor from the font's units to shares of its size. */
  unit: number
  isVertical: boolean
}

interface Operators {
  readonly fnArray: readonly number[]
  readonly argsArray: readonly unknown[]
}

type Matrix = readonly number[]

interface State {
  matrix: Matrix
  textMatrix: Matrix
  /** Start of the line and position of its next glyph, before `textMatrix`. */
  lineX: number
  x: number
  y: number
  font: string
  size: number
  charSpacing: number
  wordSpacing: number
  stretch: number
  leading: number
  rise: number
}

const UPRIGHT: Matrix = [1, 0, 0, 1, 0, 0]
const BEGINNING: State = {
  matrix: UPRIGHT,
  textMatrix: UPRIGHT,
  lineX: 0,
  x: 0,
  y: 0,
  font: '',
  size: 0,
  charSpacing: 0,
  wordSpacing: 0,
  stretch: 1,
  leading: 0,
  rise: 0,
}

const glyph = z.object({ unicode: z.string(), width: z.number(), isSpace: z.boolean() })
const shown = z.union([z.number(), glyph]).catch(0)
const glyphs = z.tuple([z.array(shown)])
const fontChoice = z.tuple([z.string(), z.number()])
const one = z.tuple([z.number()]).rest(z.unknown())
const two = z.tuple([z.number(), z.number()])
const arrayOfSix = z.preprocess(
  (value) => (value instanceof Float32Array ? [...value] : value),
  z.array(z.number()).length(6),
)
const wrappedMatrix = z.tuple([arrayOfSix]).rest(z.unknown())

/** In drawing order, without vertical text. The text layer uses a browser font, whose advances differ. */
export function drawnGlyphs({ fnArray, argsArray }: Operators, metricsOf: (font: string) => FontMetrics): DrawnGlyph[] {
  const drawn: DrawnGlyph[] = []
  const outer: State[] = []
  let state = BEGINNING
  const change = (changed: Partial<State>) => {
    state = { ...state, ...changed }
  }
  const number = (args: unknown) => one.safeParse(args).data?.[0] ?? 0
  const moveLine = (across: number, up: number) => {
    const lineX = state.lineX + across
    change({ lineX, x: lineX, y: state.y + up })
  }
  fnArray.forEach((operator, index) => {
    const args = argsArray[index]
    switch (operator) {
      case OPS.save:
        outer.push(state)
        break
      case OPS.paintFormXObjectBegin:
        outer.push(state)
        change({ matrix: times(state.matrix, wrappedMatrix.safeParse(args).data?.[0] ?? UPRIGHT) })
        break
      case OPS.restore:
      case OPS.paintFormXObjectEnd:
        state = outer.pop() ?? BEGINNING
        break
      case OPS.transform:
        change({ matrix: times(state.matrix, arrayOfSix.safeParse(args).data ?? UPRIGHT) })
        break
      case OPS.beginText:
        change({ textMatrix: UPRIGHT, lineX: 0, x: 0, y: 0 })
        break
      case OPS.setTextMatrix:
        change({ textMatrix: wrappedMatrix.safeParse(args).data?.[0] ?? UPRIGHT, lineX: 0, x: 0, y: 0 })
        break
      case OPS.moveText:
      case OPS.setLeadingMoveText: {
        const [across, up] = two.safeParse(args).data ?? [0, 0]
        if (operator === OPS.setLeadingMoveText) change({ leading: up })
        moveLine(across, up)
        break
      }
      case OPS.nextLine:
        moveLine(0, state.leading)
        break
      case OPS.setLeading:
        change({ leading: -number(args) })
        break
      case OPS.setCharSpacing:
        change({ charSpacing: number(args) })
        break
      case OPS.setWordSpacing:
        change({ wordSpacing: number(args) })
        break
      case OPS.setHScale:
        change({ stretch: number(args) / 100 })
        break
      case OPS.setTextRise:
        change({ rise: number(args) })
        break
      case OPS.setFont: {
        const [font, size] = fontChoice.safeParse(args).data ?? ['', 0]
        change({ font, size })
        break
      }
      case OPS.showText: {
        const metrics = metricsOf(state.font)
        const row = glyphs.safeParse(args).data?.[0] ?? []
        if (!metrics.isVertical) change({ x: show(row, state, metrics.unit, drawn) })
        break
      }
    }
  })
  return drawn
}

/** @returns the position of the next glyph in its line */
function show(
  row: readonly z.infer<typeof shown>[],
  { matrix, textMatrix, x: from, y, size, charSpacing, wordSpacing, stretch, rise }: State,
  unit: number,
  drawn: DrawnGlyph[],
): number {
  const whole = times(matrix, textMatrix)
  let x = from
  for (const next of row) {
    // A number moves the following glyph back, in thousandths of the size.
    if (typeof next === 'number') {
      x -= (next / 1000) * size * stretch
      continue
    }
    const end = x + next.width * unit * size * stretch
    const [[beginX, beginY], [endX, endY]] = [apply(whole, x, y + rise), apply(whole, end, y + rise)]
    drawn.push({ text: next.unicode, x: beginX, y: beginY, endX, endY })
    x = end + (charSpacing + (next.isSpace ? wordSpacing : 0)) * stretch
  }
  return x
}

const times = ([a = 1, b = 0, c = 0, d = 1, e = 0, f = 0]: Matrix, inner: Matrix): Matrix => {
  const [ia = 1, ib = 0, ic = 0, id = 1, ie = 0, jf = 0] = inner
  return [a * ia + c * ib, b * ia + d * ib, a * ic + c * id, b * ic + d * id, a * ie + c * jf + e, b * ie + d * jf + f]
}

const apply = ([a = 1, b = 0, c = 0, d = 1, e = 0, f = 0]: Matrix, x: number, y: number): [number, number] => [
  a * x + c * y + e,
  b * x + d * y + f,
]

/** Start, width and direction of a text item, as in pdf.js. */
export interface ItemLayout {
  text: string
  transform: readonly number[]
  width: number
}

/** Left-to-right scripts whose letters do not change with their neighbours. */
const SEPARATE_LETTERS =
  /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\uac00-\ud7a3\p{Script=Common}]*$/u
/** Largest distance between a glyph and the start of its item, as a share of the size. */
const NEAR = 0.2

/**
 * Start of each UTF-16 code unit of an item and end of the last one, as shares of its width. Null where the glyphs do
 * not spell the item or its letters join: the browser's own layout is then no worse.
 */
export function characterEdges({ text, transform, width }: ItemLayout, drawn: readonly DrawnGlyph[]): number[] | null {
  const [a = 1, b = 0, , , x = 0, y = 0] = transform
  const size = Math.hypot(a, b)
  if (!(size > 0) || !(width > 0) || text.trim() === '' || !SEPARATE_LETTERS.test(text)) return null
  const shareOf = (atX: number, atY: number) => ((atX - x) * a + (atY - y) * b) / size / width
  const isNear = (one: DrawnGlyph) => Math.hypot(one.x - x, one.y - y) < NEAR * size
  for (const [first, begins] of drawn.entries()) {
    if (!isNear(begins)) continue
    const edges = spell(text, drawn, first, shareOf)
    if (edges) return edges
  }
  return null
}

/** Matches the text with the glyphs from `first` on, ignoring white space. */
function spell(
  text: string,
  drawn: readonly DrawnGlyph[],
  first: number,
  shareOf: (x: number, y: number) => number,
): number[] | null {
  const edges: number[] = []
  let end = 0
  let next = first
  for (let at = 0; at < text.length;) {
    if (isSpace(text.charAt(at))) {
      edges.push(end)
      at += 1
      continue
    }
    while (drawn[next]?.text.trim() === '') next += 1
    const found = drawn[next]
    if (!found || !text.startsWith(found.text, at)) return null
    const begin = shareOf(found.x, found.y)
    end = shareOf(found.endX, found.endY)
    for (let part = 0; part < found.text.length; part += 1)
      edges.push(begin + ((end - begin) * part) / found.text.length)
    at += found.text.length
    next += 1
  }
  return [...edges, Math.max(end, 1)]
}

const isSpace = (character: string): boolean => /^\s$/.test(character)
