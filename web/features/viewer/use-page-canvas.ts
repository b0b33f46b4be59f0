import { RenderingCancelledException } from 'pdfjs-dist'
import type { PDFPageProxy } from 'pdfjs-dist'
import { useEffect, useRef, useState } from 'react'
import type { RefObject } from 'react'

import { isDarkPage } from './is-dark-page.ts'

/** iOS refuses larger canvases, in device pixels; above this a page is drawn coarser and stretched. */
const MAX_PIXELS = 16_777_216

/** While the width changes, the old drawing is stretched; it is redrawn once the width rests this long. */
const REDRAW_DELAY_MS = 150

/** `width` is in CSS pixels. An older drawing stays until the new one is complete. */
export function usePageCanvas(
  holder: RefObject<HTMLElement | null>,
  page: PDFPageProxy | null,
  width: number,
): { drawn: boolean; dark: boolean } {
  const [drawing, setDrawing] = useState({ drawn: false, dark: false })
  const hasDrawing = useRef(false)

  useEffect(() => {
    if (!page) return
    const { promise, cancel } = draw(page, width, hasDrawing.current ? REDRAW_DELAY_MS : 0)
    promise.then(
      (canvas) => {
        holder.current?.replaceChildren(canvas)
        hasDrawing.current = true
        setDrawing({ drawn: true, dark: isDarkPage(canvas) })
      },
      (error: unknown) => {
        if (!(error instanceof RenderingCancelledException)) console.error(error)
      },
    )
    return cancel
  }, [holder, page, width])

  return drawing
}

function draw(page: PDFPageProxy, width: number, delayMs: number) {
  const { promise, resolve, reject } = Promise.withResolvers<HTMLCanvasElement>()
  let stop = () => clearTimeout(timer)
  const timer = setTimeout(() => {
    const natural = page.getViewport({ scale: 1 })
    const wanted = (width / natural.width) * window.devicePixelRatio
    const most = Math.sqrt(MAX_PIXELS / (natural.width * natural.height))
    const viewport = page.getViewport({ scale: Math.min(wanted, most) })
    const canvas = document.createElement('canvas')
    canvas.width = Math.round(viewport.width)
    canvas.height = Math.round(viewport.height)
    const task = page.render({ canvas, viewport })
    stop = () => task.cancel()
    task.promise.then(() => resolve(canvas), reject)
  }, delayMs)
  return { promise, cancel: () => stop() }
}
