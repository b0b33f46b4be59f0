import { GlobalWorkerOptions, VerbosityLevel, getDocument } from 'pdfjs-dist'
import type { PDFDocumentLoadingTask } from 'pdfjs-dist'
import workerUrl from 'pdfjs-dist/build/pdf.worker.min.mjs?url'

GlobalWorkerOptions.workerSrc = workerUrl

/** The options under which the server read the text items, so that item numbers and offsets mean the same here. */
export const TEXT_CONTENT_OPTIONS = { includeMarkedContent: true, disableNormalization: true } as const

/**
 * Begins to load a document's PDF from our own origin, in pieces as they are needed. End it with `task.destroy()`.
 */
export function openPdf(documentId: string): PDFDocumentLoadingTask {
  return getDocument({
    url: `/api/documents/${encodeURIComponent(documentId)}/file`,
    withCredentials: true,
    cMapUrl: '/pdfjs/cmaps/',
    standardFontDataUrl: '/pdfjs/standard_fonts/',
    // What a file names without bringing it looks the same everywhere, whatever fonts the reader's machine has.
    useSystemFonts: false,
    wasmUrl: '/pdfjs/wasm/',
    // The page's Content-Security-Policy has no 'wasm-unsafe-eval'; the JavaScript decoders stand in.
    useWasm: false,
    verbosity: VerbosityLevel.ERRORS,
  })
}
