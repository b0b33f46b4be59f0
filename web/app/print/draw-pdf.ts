import { TextLayer } from 'pdfjs-dist'
import { openPdf, TEXT_CONTENT_OPTIONS } from '#web/features/viewer/open-pdf.ts'
import { revokePictures, type DrawnPage, type Preparation } from './drawn-page.ts'

/** Device pixels for each point of the page: about 150 a inch. */
const SCALE = 2.1
const QUALITY = 0.92

/**
 * Draws all pages, one after the other. The addresses of the pictures are valid until the page is left.
 * @throws when it is aborted
 */
export async function drawPdf(documentId: string, { signal, tell }: Preparation): Promise<DrawnPage[]> {
  const task = openPdf(documentId)
  const destroy = (): void => void task.destroy()
  signal.addEventListener('abort', destroy)
  const pages: DrawnPage[] = []
  try {
    const pdf = await task.promise
    for (let n = 1; n <= pdf.numPages; n += 1) {
      const page = await pdf.getPage(n)
      const { width, height } = page.getViewport({ scale: 1 })
      const viewport = page.getViewport({ scale: SCALE })
      const canvas = document.createElement('canvas')
      canvas.width = Math.round(viewport.width)
      canvas.height = Math.round(viewport.height)
      await page.render({ canvas, viewport, intent: 'print' }).promise
      const letters = document.createElement('div')
      const content = await page.getTextContent(TEXT_CONTENT_OPTIONS)
      await new TextLayer({
        textContentSource: content,
        container: letters,
        viewport: page.getViewport({ scale: 1 }),
      }).render()
      pages.push({ picture: await pictureOf(canvas), letters, width, height })
      page.cleanup()
      tell(n, pdf.numPages)
      signal.throwIfAborted()
    }
    return pages
  } catch (error) {
    revokePictures(pages)
    throw error
  } finally {
    signal.removeEventListener('abort', destroy)
    await task.destroy()
  }
}

async function pictureOf(canvas: HTMLCanvasElement): Promise<HTMLImageElement> {
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/jpeg', QUALITY))
  canvas.width = 0
  if (blob === null) throw new Error('A page could not be drawn')
  const picture = new Image()
  picture.src = URL.createObjectURL(blob)
  await picture.decode()
  return picture
}
