import type { PDFDocumentProxy, PDFPageProxy } from 'pdfjs-dist'
import { useEffect, useState } from 'react'

import type { PageSize } from './page-layout.ts'

/** Loads one page, reports its true size, and frees its resources on unmount. */
export function usePdfPage(
  pdf: PDFDocumentProxy,
  page: number,
  onSize: (page: number, size: PageSize) => void,
): PDFPageProxy | null {
  const [proxy, setProxy] = useState<PDFPageProxy | null>(null)

  useEffect(() => {
    let left = false
    let loaded: PDFPageProxy | null = null
    pdf.getPage(page).then(
      (result) => {
        loaded = result
        if (left) return
        const { width, height } = result.getViewport({ scale: 1 })
        onSize(page, { width, height })
        setProxy(result)
      },
      (error: unknown) => {
        if (!left) console.error(error)
      },
    )
    return () => {
      left = true
      loaded?.cleanup()
    }
  }, [pdf, page, onSize])

  return proxy
}
