import type { PDFPageProxy } from 'pdfjs-dist'
import { useEffect, useState } from 'react'

import { fitTextItem } from './fit-text-item.ts'
import { glyphAdvances } from './glyph-advances.ts'
import type { ItemRange } from './item-ranges.ts'
import type { TextLayerItem } from './use-text-layer.ts'

/**
 * Fits the elements that hold a passage to the drawing of the page. The answer: the ranges whose elements are as they
 * will stay. Only a page with a passage is read a second time for it.
 */
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
        const byFont = glyphAdvances(operators)
        for (const { item } of ranges) {
          const { element, fontName, width } = items[item] ?? {}
          const advances = byFont.get(fontName ?? '')
          if (element && advances && width !== undefined) fitTextItem(element, advances, width)
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
