/** Text in layers that are switched off by default (ISO 32000-2, 8.11): the page does not show it. */
import { OPS } from 'pdfjs-dist/legacy/build/pdf.mjs'
import { z } from 'zod'
import type { TextItem } from './lines.ts'

export interface Layers {
  readonly isVisible: (group: unknown) => boolean
}

interface Operators {
  readonly fnArray: readonly number[]
  readonly argsArray: readonly unknown[]
}

const glyphs = z.array(z.union([z.number(), z.object({ unicode: z.string() })]))
const marked = z.tuple([z.string(), z.unknown()])

/**
 * Empties the items in hidden layers; their number and order stay. The operators tell layers, the items do not, so both
 * are compared letter by letter; items stay as they are if the letters do not match.
 */
export function hideLayers(items: readonly TextItem[], operators: Operators, layers: Layers): TextItem[] {
  const letters = listLetters(operators, layers)
  if (!letters.some(({ isHidden }) => isHidden)) return [...items]
  let at = 0
  const shown = items.map((item) => {
    const count = withoutBlanks(item.str).length
    const first = letters[at]
    at += count
    return count > 0 && first?.isHidden === true ? { ...item, str: '' } : item
  })
  return at === letters.length ? shown : [...items]
}

interface Letter {
  readonly isHidden: boolean
}

function listLetters({ fnArray, argsArray }: Operators, layers: Layers): Letter[] {
  const open: boolean[] = []
  const letters: Letter[] = []
  let annotations = 0
  fnArray.forEach((operator, index) => {
    const args = argsArray[index]
    // The items hold no text of the appearances of annotations.
    if (operator === OPS.beginAnnotation) annotations += 1
    else if (operator === OPS.endAnnotation) annotations = Math.max(0, annotations - 1)
    else if (annotations > 0) return
    else if (operator === OPS.beginMarkedContent) open.push(false)
    else if (operator === OPS.beginMarkedContentProps) {
      const { data } = marked.safeParse(args)
      open.push(data?.[0] === 'OC' && !layers.isVisible(data[1]))
    } else if (operator === OPS.endMarkedContent) open.pop()
    else if (operator === OPS.showText) {
      const isHidden = open.includes(true)
      for (const glyph of glyphs.safeParse((args as unknown[])[0]).data ?? [])
        if (typeof glyph !== 'number')
          for (const _unit of withoutBlanks(glyph.unicode).split('')) letters.push({ isHidden })
    }
  })
  return letters
}

const withoutBlanks = (text: string): string => text.replaceAll(/[\s\0]/g, '')
