import { PasswordException, ResponseException } from 'pdfjs-dist'
import type { PDFDocumentProxy } from 'pdfjs-dist'
import { useEffect, useState } from 'react'

import { openPdf } from './open-pdf.ts'
import type { PageSize } from './page-layout.ts'

export type PdfFailureReason = 'deleted' | 'encrypted' | 'unreachable' | 'broken'

export type PdfState =
  | { state: 'loading' }
  /** `size` is the size of the requested page, the first estimate for all others. */
  | { state: 'open'; pdf: PDFDocumentProxy; size: PageSize }
  | { state: 'failed'; reason: PdfFailureReason }

/** Loads a document's PDF; unmounting destroys it and its worker. */
export function usePdf(documentId: string, firstPage: number): PdfState {
  const [result, setResult] = useState<PdfState>({ state: 'loading' })
  const [opensAt] = useState(firstPage)

  useEffect(() => {
    const task = openPdf(documentId)
    let left = false
    task.promise
      .then(async (pdf) => {
        const page = await pdf.getPage(Math.min(Math.max(1, opensAt), pdf.numPages))
        const { width, height } = page.getViewport({ scale: 1 })
        if (!left) setResult({ state: 'open', pdf, size: { width, height } })
      })
      .catch((error: unknown) => {
        if (left) return
        console.error(error)
        setResult({ state: 'failed', reason: failureReason(error) })
      })
    return () => {
      left = true
      void task.destroy()
    }
  }, [documentId, opensAt])

  return result
}

function failureReason(error: unknown): PdfFailureReason {
  if (error instanceof PasswordException) return 'encrypted'
  if (error instanceof ResponseException) return error.status === 404 ? 'deleted' : 'unreachable'
  return 'broken'
}
