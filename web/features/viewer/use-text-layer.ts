import { AbortException, TextLayer } from 'pdfjs-dist'
import type { PDFPageProxy } from 'pdfjs-dist'
import type { TextItem } from 'pdfjs-dist/types/src/display/api'
import { useEffect, useState } from 'react'
import type { RefObject } from 'react'
import { z } from 'zod'

import type { ItemLayout } from './drawn-glyphs.ts'
import { TEXT_CONTENT_OPTIONS } from './open-pdf.ts'

export interface TextLayerItem {
  element: HTMLElement
  /** Null where the text does not run from left to right. */
  layout: ItemLayout | null
}

/**
 * Fills the container with the page's text. Returns, once complete, its items by item number. Positions are shares of
 * the page and font sizes follow `--total-scale-factor`, so a zoom needs no second run.
 */
export function useTextLayer(
  container: RefObject<HTMLElement | null>,
  page: PDFPageProxy | null,
): readonly TextLayerItem[] | null {
  const [items, setItems] = useState<readonly TextLayerItem[] | null>(null)

  useEffect(() => {
    const element = container.current
    if (!page || !element) return
    let layer: TextLayer | null = null
    let left = false
    const hasLeft = () => left
    const fill = async () => {
      const content = await page.getTextContent(TEXT_CONTENT_OPTIONS)
      if (left) return
      layer = new TextLayer({
        textContentSource: content,
        container: element,
        viewport: page.getViewport({ scale: 1 }),
      })
      await layer.render()
      if (hasLeft()) return
      const texts = content.items.filter((item) => 'str' in item)
      setItems(
        layer.textDivs.flatMap((div, index) => {
          const text = texts[index]
          return text ? { element: div, layout: layoutOf(text) } : []
        }),
      )
    }
    fill().catch((error: unknown) => {
      if (!left && !(error instanceof AbortException)) console.error(error)
    })
    return () => {
      left = true
      layer?.cancel()
      element.replaceChildren()
      setItems(null)
    }
  }, [container, page])

  return items
}

const layoutOf = ({ str, transform, width, dir }: TextItem): ItemLayout | null =>
  dir === 'ltr' ? { text: str, transform: z.array(z.number()).parse(transform), width } : null
