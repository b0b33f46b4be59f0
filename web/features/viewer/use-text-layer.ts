import { AbortException, TextLayer } from 'pdfjs-dist'
import type { PDFPageProxy } from 'pdfjs-dist'
import { useEffect, useState } from 'react'
import type { RefObject } from 'react'

import { TEXT_CONTENT_OPTIONS } from './open-pdf.ts'

/**
 * Fills the container with the page's text. The answer, once complete: one element per text item, by item number.
 * Positions are shares of the page and font sizes follow `--total-scale-factor`, so a zoom needs no second run.
 */
export function useTextLayer(
  container: RefObject<HTMLElement | null>,
  page: PDFPageProxy | null,
): readonly HTMLElement[] | null {
  const [items, setItems] = useState<readonly HTMLElement[] | null>(null)

  useEffect(() => {
    const element = container.current
    if (!page || !element) return
    const layer = new TextLayer({
      textContentSource: page.streamTextContent(TEXT_CONTENT_OPTIONS),
      container: element,
      viewport: page.getViewport({ scale: 1 }),
    })
    let left = false
    layer.render().then(
      () => {
        if (!left) setItems(layer.textDivs)
      },
      (error: unknown) => {
        if (!(error instanceof AbortException)) console.error(error)
      },
    )
    return () => {
      left = true
      layer.cancel()
      element.replaceChildren()
      setItems(null)
    }
  }, [container, page])

  return items
}
