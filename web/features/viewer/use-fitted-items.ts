import type { PDFPageProxy } from 'pdfjs-dist'
import { useEffect, useState } from 'react'
import { z } from 'zod'

import { drawnGlyphs, type FontMetrics } from './drawn-glyphs.ts'
import { fitTextItem } from './fit-text-item.ts'
import type { ItemRange } from './item-ranges.ts'
import type { TextLayerItem } from './use-text-layer.ts'

/** Reads only pages with a passage a second time. @returns the ranges whose elements no longer change */
export function useFittedItems(
  page: PDFPageProxy | null,
  items: readonly TextLayerItem[] | null,
  ranges: readonly ItemRange[] | undefined,
): readonly ItemRange[] | null {
  const [fitted, setFitted] = useState<readonly ItemRange[] | null>(null)

  useEffect(() => {
    if (!page || !items || !ranges || ranges.length === 0) return
    let left = false
    page.getOperatorList().then(
      (operators) => {
        if (left) return
        const drawn = drawnGlyphs(operators, (font) => metricsOf(page, font))
        for (const { item } of ranges) {
          const fitting = items[item]
          if (fitting) fitTextItem(fitting, drawn)
        }
        setFitted(ranges)
      },
      (error: unknown) => {
        if (!left) console.error(error)
      },
    )
    return () => {
      left = true
    }
  }, [page, items, ranges])

  return fitted
}

const font = z.object({ fontMatrix: z.array(z.number()).optional(), vertical: z.boolean().optional() })
const COMMON_UNIT = 0.001

function metricsOf({ commonObjs }: PDFPageProxy, name: string): FontMetrics {
  const found: unknown = commonObjs.has(name) ? commonObjs.get(name) : {}
  const { fontMatrix, vertical = false } = font.safeParse(found).data ?? {}
  return { unit: fontMatrix?.[0] ?? COMMON_UNIT, isVertical: vertical }
}
