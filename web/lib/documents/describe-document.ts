import type { DocumentRow } from '#contract/document.ts'
import { fileTypeOf } from '#contract/file-types.ts'

import { partName, documentPart } from './document-parts.ts'
import { formatSize } from '#contract/format-size.ts'

/** The facts below a document's name: `['Contracts/2024', 'PDF', '2.4 MB', '312 pages']`. */
export function documentFacts(document: DocumentRow): string[] {
  const folder = document.folder === '' ? [] : [document.folder]
  const facts = [...folder, fileTypeOf(document.mimetype)?.label ?? 'File', formatSize(document.size)]
  const part = documentPart(document.mimetype)
  const isWhole = document.pages === 1 && part === 'section'
  if (part && document.pages && !isWhole) facts.push(`${document.pages} ${partName(document.mimetype, document.pages)}`)
  if (document.version > 1) facts.push(`Version ${document.version}`)
  return facts
}

/** One line about a document among search results: its state, else `page` (where the hit is) or its length. */
export function describeSearchHit(document: DocumentRow, page: number | undefined): string {
  const { state, pages, mimetype } = document
  if (state === 'failed') return 'Could not be read'
  if (state !== 'ready') return describeProgress(document).text
  const part = partName(mimetype, 1)
  const count = pages ?? 1
  if (page === undefined || count === 1) return `${count} ${partName(mimetype, count)}`
  return `${part[0]?.toUpperCase()}${part.slice(1)} ${page} of ${count}`
}

export function describeReadability({ mimetype, state, readability }: DocumentRow): string[] {
  if (state !== 'ready' || !readability) return []
  const { pages, by_ocr, unsure, without_text, cut } = readability
  const count = (parts: number) => `${parts} ${partName(mimetype, parts)}`
  const isAll = (parts: number) => parts === pages
  const remarks: string[] = []
  if (by_ocr > 0)
    remarks.push(isAll(by_ocr) ? 'By text recognition' : `${by_ocr} of ${count(pages)} by text recognition`)
  if (unsure > 0) remarks.push(isAll(unsure) ? 'Unsure' : `${count(unsure)} unsure`)
  if (without_text > 0) remarks.push(isAll(without_text) ? 'No text found' : `${count(without_text)} without text`)
  if (cut > 0) remarks.push('Cut at the limit')
  return remarks
}

export interface DocumentProgress {
  tone: 'working' | 'ready' | 'failed'
  text: string
  progress: number | null
}

export function describeProgress(document: DocumentRow): DocumentProgress {
  switch (document.state) {
    case 'queued':
      return { tone: 'working', text: 'Waiting to be read', progress: null }
    case 'paused':
      return { tone: 'working', text: 'Reading is paused', progress: null }
    case 'reading':
      if (!document.pages) return { tone: 'working', text: 'Reading', progress: null }
      return {
        tone: 'working',
        text: `Reading: ${document.pages_done} of ${document.pages}`,
        progress: Math.min(1, document.pages_done / document.pages),
      }
    case 'ready':
      return { tone: 'ready', text: 'Ready', progress: 1 }
    case 'failed':
      return { tone: 'failed', text: document.error?.message ?? 'This file could not be read.', progress: null }
  }
}
