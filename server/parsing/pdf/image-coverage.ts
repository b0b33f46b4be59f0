import { OPS } from 'pdfjs-dist/legacy/build/pdf.mjs'
import { z } from 'zod'

export const IMAGE_OPERATORS: ReadonlySet<number> = new Set<number>([
  OPS.paintImageXObject,
  OPS.paintInlineImageXObject,
  OPS.paintImageMaskXObject,
])

/** A scan may be smaller than its sheet. */
const MAX_IMAGE_SHARE = 0.6

interface Drawing {
  readonly fnArray: readonly number[]
  readonly argsArray: readonly unknown[]
}

const numbers = z.array(z.number())
const formArguments = z.tuple([numbers.length(6).nullish()]).rest(z.unknown())

export function isCoveredByImages({ fnArray, argsArray }: Drawing, view: readonly number[]): boolean {
  const [left = 0, bottom = 0, right = 0, top = 0] = view
  const page = Math.abs((right - left) * (top - bottom))
  // An image fills the unit square: its area is the determinant of the current matrix.
  const outer: number[] = []
  let scale = 1
  let covered = 0
  for (const [index, operator] of fnArray.entries()) {
    if (operator === OPS.save) outer.push(scale)
    else if (operator === OPS.restore || operator === OPS.paintFormXObjectEnd) scale = outer.pop() ?? scale
    else if (operator === OPS.transform) scale *= matrixArea(numbers.safeParse(argsArray[index]).data)
    else if (operator === OPS.paintFormXObjectBegin) {
      outer.push(scale)
      scale *= matrixArea(formArguments.safeParse(argsArray[index]).data?.[0])
    } else if (IMAGE_OPERATORS.has(operator)) covered += scale
  }
  return covered > MAX_IMAGE_SHARE * page
}

function matrixArea(matrix: readonly number[] | null | undefined): number {
  const [a = 1, b = 0, c = 0, d = 1] = matrix ?? []
  return Math.abs(a * d - b * c)
}
