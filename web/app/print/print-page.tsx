/**
 * Prints conversations and documents from a view of their own: the page draws only what is near its view. Print in the
 * page loads everything first; the browser's own command can wait for nothing and prints what is loaded.
 */
import { QueryClientProvider, type QueryClient } from '@tanstack/react-query'
import type { JSX } from 'react'
import { flushSync } from 'react-dom'
import { createRoot, type Root } from 'react-dom/client'
import type { DocumentRow, PageText } from '#contract/document.ts'
import {
  documentFileUrl,
  documentKey,
  documentQuery,
  loadedParts,
  pageTextQuery,
} from '#web/data/documents/document-queries.ts'
import { loadWholeConversation } from '#web/data/whole-conversation.ts'
import { onReady, isReady } from '#web/features/thread/markdown/typeset.ts'
import { joinParts, loadedLines } from '#web/features/viewer/sheet-lines.ts'
import { viewerKind } from '#web/features/viewer/viewer-kind.ts'
import styles from './print.module.css'
import { PrintedConversation } from './printed-conversation.tsx'
import { revokePictures, type Preparation } from './drawn-page.ts'
import { showPrintProgress } from './print-progress.tsx'
import { PrintedDocument, type PrintableDocument } from './printed-document.tsx'

export type Printed = { kind: 'conversation' | 'document'; id: string }

/** Parts of the route that can be printed. */
export interface ShownOnPage {
  chatId: string | null
  documentId: string | null
}

let view: { printed: Printed; container: HTMLElement; root: Root } | null = null
/** The document that was loaded as a whole. */
let loaded: PrintableDocument | null = null

function closeView(): void {
  view?.root.unmount()
  view?.container.remove()
  view = null
}

function showView(printed: Printed, queryClient: QueryClient, content: JSX.Element): void {
  if (view?.printed.kind !== printed.kind || view.printed.id !== printed.id) closeView()
  if (view === null) {
    const container = document.createElement('div')
    container.className = styles.paper ?? ''
    document.body.append(container)
    view = { printed, container, root: createRoot(container) }
  }
  const { root, container } = view
  flushSync(() => root.render(<QueryClientProvider client={queryClient}>{content}</QueryClientProvider>))
  showAddresses(container)
  breakLongWords(container)
}

/** A table is as wide as its longest words: those that would push it off the paper are broken. */
function breakLongWords(container: HTMLElement): void {
  for (const cell of container.querySelectorAll(`table:not(.${styles.sheet ?? ''}) :is(th, td)`))
    if (/\S{20}/.test(cell.textContent)) cell.classList.add(styles.brokenAnywhere ?? '')
}

/** On paper a link is no use without its address. */
function showAddresses(container: HTMLElement): void {
  for (const link of container.querySelectorAll('a')) {
    const isKnown = link.textContent.includes(link.host) || link.nextElementSibling?.className === styles.address
    if (isKnown || link.closest('sup') !== null) continue
    const address = document.createElement('span')
    address.className = styles.address ?? ''
    address.textContent = ` (${link.href})`
    link.after(address)
  }
}

function showPrinted(printed: Printed, queryClient: QueryClient): void {
  if (printed.kind === 'conversation')
    return showView(printed, queryClient, <PrintedConversation queryClient={queryClient} id={printed.id} />)
  const whole = loaded?.document.id === printed.id ? loaded : findLoaded(printed.id, queryClient)
  if (whole !== null) showView(printed, queryClient, <PrintedDocument {...whole} />)
}

/** The parts of a document that the viewer has loaded. */
function findLoaded(id: string, queryClient: QueryClient): PrintableDocument | null {
  const row = queryClient.getQueryData<DocumentRow | null>(documentKey(id))
  if (!row) return null
  const { body } = viewerKind(row.mimetype)
  const count = row.pages ?? 1
  if (body === 'text') {
    const numbers = Array.from({ length: count }, (_, index) => index + 1)
    const texts = numbers.flatMap((page) => findText(id, page, queryClient) ?? [])
    return { document: row, pages: [], texts, isWhole: texts.length === count && texts.every(({ part }) => !part) }
  }
  const drawings = [...document.querySelectorAll<HTMLCanvasElement | HTMLImageElement>(DRAWINGS)]
  const pages = drawings.map((drawing) => {
    const [width, height] =
      drawing instanceof HTMLCanvasElement
        ? [drawing.clientWidth, drawing.clientHeight]
        : [drawing.naturalWidth, drawing.naturalHeight]
    return { picture: copyOf(drawing), letters: document.createElement('div'), width, height }
  })
  return { document: row, pages, texts: [], isWhole: body === 'image' || pages.length === count }
}

/** The text of a page, or the rows of a long sheet, that the viewer has loaded. */
function findText(id: string, page: number, queryClient: QueryClient): PageText | null {
  const whole = queryClient.getQueryData<PageText | null>(pageTextQuery(id, page).queryKey)
  if (whole) return whole
  const parts = loadedParts(queryClient, id, page)
  const { text, lines } = joinParts(parts)
  const rows = loadedLines(lines ?? []).map(({ start, row }): [number, number] => [start, row])
  return parts[0] ? { ...parts[0], text, rows } : null
}

/** The drawn pages of a PDF, or the picture, in the viewer. */
const DRAWINGS = '[data-body=pdf] canvas, [data-body=image] img'

function copyOf(drawing: HTMLCanvasElement | HTMLImageElement): HTMLCanvasElement {
  const copy = document.createElement('canvas')
  const isCanvas = drawing instanceof HTMLCanvasElement
  copy.width = isCanvas ? drawing.width : drawing.naturalWidth
  copy.height = isCanvas ? drawing.height : drawing.naturalHeight
  copy.getContext('2d')?.drawImage(drawing, 0, 0)
  return copy
}

/** Pages of text that are read at the same time. */
const READ_TOGETHER = 6

async function loadDocument(
  id: string,
  queryClient: QueryClient,
  preparation: Preparation,
): Promise<PrintableDocument> {
  const row = await queryClient.query({ ...documentQuery(id), staleTime: 'static' })
  if (row === null) throw new Error('The document was deleted')
  const { body } = viewerKind(row.mimetype)
  if (body === 'pdf') {
    const { drawPdf } = await import('./draw-pdf.ts')
    return { document: row, pages: await drawPdf(id, preparation), texts: [], isWhole: true }
  }
  if (body === 'image') {
    const picture = new Image()
    picture.src = documentFileUrl(id)
    await picture.decode()
    const { naturalWidth: width, naturalHeight: height } = picture
    const page = { picture, letters: document.createElement('div'), width, height }
    return { document: row, pages: [page], texts: [], isWhole: true }
  }
  const numbers = Array.from({ length: row.pages ?? 1 }, (_, index) => index + 1)
  const texts: PageText[] = []
  for (let first = 0; first < numbers.length; first += READ_TOGETHER) {
    const some = numbers.slice(first, first + READ_TOGETHER)
    const read = await Promise.all(
      some.map((page) => queryClient.query({ ...pageTextQuery(id, page), staleTime: 'static' })),
    )
    texts.push(...read.filter((text) => text !== null))
    preparation.signal.throwIfAborted()
    preparation.tell(Math.min(first + READ_TOGETHER, numbers.length), numbers.length)
  }
  return { document: row, pages: [], texts, isWhole: true }
}

const FORMULAS_WITHIN_MS = 8_000

const formulasReady = (container: HTMLElement): Promise<void> =>
  new Promise((resolve) => {
    if (isReady() || container.querySelector('[data-formula]') === null) return resolve()
    const stop = onReady(() => end())
    const end = (): void => {
      clearTimeout(timer)
      stop()
      resolve()
    }
    // Where the code of formulas does not load, they are printed as they were written.
    const timer = setTimeout(end, FORMULAS_WITHIN_MS)
  })

let requested: Printed | null = null

/**
 * Loads all of a conversation or document and opens the browser's dialog, unless the person cancels or `leaving` aborts
 * before.
 * @throws if it cannot be loaded
 */
export async function print(printed: Printed, queryClient: QueryClient, leaving: AbortSignal): Promise<void> {
  const cancelling = new AbortController()
  const signal = AbortSignal.any([leaving, cancelling.signal])
  const progress = showPrintProgress(() => cancelling.abort())
  try {
    await prepare(printed, queryClient, { signal, tell: progress.tell })
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    progress.end()
  }
  if (signal.aborted || view === null) return
  requested = printed
  window.print()
}

async function prepare(printed: Printed, queryClient: QueryClient, preparation: Preparation): Promise<void> {
  const { signal } = preparation
  if (printed.kind === 'conversation') await loadWholeConversation(printed.id, queryClient)
  else {
    const whole = await loadDocument(printed.id, queryClient, preparation)
    revokePictures(loaded?.pages ?? [])
    loaded = whole
  }
  signal.throwIfAborted()
  showPrinted(printed, queryClient)
  if (view === null) return
  await formulasReady(view.container)
  await document.fonts.ready
}

/** In a column of its own, the document is meant where it has the focus. */
function meantOf({ chatId, documentId }: ShownOnPage): Printed | null {
  const pane = document.activeElement?.closest('[aria-label^="Reader:"]')
  if (documentId !== null && (chatId === null || pane)) return { kind: 'document', id: documentId }
  return chatId === null ? null : { kind: 'conversation', id: chatId }
}

/** Prints what has the focus. */
export async function printShown(shown: ShownOnPage, queryClient: QueryClient, signal: AbortSignal): Promise<void> {
  const printed = meantOf(shown)
  if (printed === null) window.print()
  else await print(printed, queryClient, signal)
}

/** Answers the print command of the browser. @returns the function that ends this, and drops what was prepared */
export function followPrinting(shown: ShownOnPage, queryClient: QueryClient): () => void {
  const { documentElement: html } = document
  let theme: string | undefined
  const begin = (): void => {
    const printed = requested ?? meantOf(shown)
    if (printed === null) return
    showPrinted(printed, queryClient)
    if (view === null) return
    theme ??= html.dataset['theme']
    html.dataset['theme'] = 'light'
    html.dataset['printing'] = ''
  }
  const end = (): void => {
    if (theme !== undefined) html.dataset['theme'] = theme
    theme = undefined
    delete html.dataset['printing']
    requested = null
  }
  addEventListener('beforeprint', begin)
  addEventListener('afterprint', end)
  return () => {
    removeEventListener('beforeprint', begin)
    removeEventListener('afterprint', end)
    end()
    revokePictures(loaded?.pages ?? [])
    loaded = null
    closeView()
  }
}
