import { GlobalWorkerOptions, VerbosityLevel, getDocument } from 'pdfjs-dist'
import type { PDFDocumentLoadingTask } from 'pdfjs-dist'
import workerUrl from 'pdfjs-dist/build/pdf.worker.min.mjs?url'
import { ownPath } from '#web/data/base-path.ts'
import { documentFileUrl } from '#web/data/documents/document-queries.ts'

GlobalWorkerOptions.workerSrc = workerUrl

/** Options with which the server read the text items; item numbers and offsets depend on them. */
export const TEXT_CONTENT_OPTIONS = { includeMarkedContent: true, disableNormalization: true } as const

/** Starts loading a document's PDF by range requests. End it with `task.destroy()`. */
export function openPdf(documentId: string): PDFDocumentLoadingTask {
  return getDocument({
    url: documentFileUrl(documentId),
    withCredentials: true,
    // PDF.js reads every page of a page tree without levels, which would be many requests of its usual 64 KiB.
    rangeChunkSize: 256 * 1024,
    cMapUrl: ownPath('/pdfjs/cmaps/'),
    standardFontDataUrl: ownPath('/pdfjs/standard_fonts/'),
    // Fonts that are not embedded look equal on every machine.
    useSystemFonts: false,
    wasmUrl: ownPath('/pdfjs/wasm/'),
    // The page's Content-Security-Policy has no 'wasm-unsafe-eval': use the JavaScript decoders.
    useWasm: false,
    verbosity: VerbosityLevel.ERRORS,
  })
}
