import { useEffect, useRef, useState } from 'react'
import type { FoundPassage } from '#contract/search.ts'
import type { PassageSource } from '#contract/source.ts'
import { messageElementId } from '#web/features/thread/show-target.ts'
import type { PlaceControl } from './use-place.ts'

/** After this time the columns have taken their new widths, and notes have become cards or the other way round. */
const LAYOUT_MS = 150

type Passage = Pick<PassageSource, 'n' | 'documentId' | 'page' | 'start' | 'end'>

/** `messageId` is null where no answer cites what is read. */
type Reading = { messageId: string | null; sources: readonly Passage[]; index: number; step: number }

export type Reader = {
  openPassage: (choice: {
    messageId: string
    sources: PassageSource[]
    source: PassageSource
    marker: HTMLElement
  }) => void
  openDocument: (documentId: string) => void
  openFound: (passage: FoundPassage) => void
  close: () => void
  /** Gives the focus back to the marker or the row that opened the reader. */
  restoreFocus: () => void
  highlight: { start: number; end: number; key: string } | null
  sourceNavigation: { position: number; count: number; onMove: (delta: -1 | 1) => void } | null
}

/** The marker of a source: its note in the margin is gone while the reader is open, its marker never is. */
const markerOf = (messageId: string, n: number): HTMLElement | null =>
  document.getElementById(messageElementId(messageId))?.querySelector(`[data-citation="${n}"]`) ?? null

/** The document beside the conversation: which one, where, and the way through the sources of one answer. */
export function useReader(place: PlaceControl): Reader {
  const [reading, setReading] = useState<Reading | null>(null)
  const opener = useRef<HTMLElement | null>(null)
  const openerSource = useRef<{ messageId: string; n: number } | null>(null)

  const show = (next: Reading): void => {
    const source = next.sources[next.index]
    if (source === undefined) return
    setReading(next)
    place.go({ documentId: source.documentId, page: source.page }, { replace: place.documentId !== null })
  }

  // The text becomes narrower or wider beside the reader: the marker that was pressed stays in view.
  const isOpen = place.documentId !== null
  useEffect(() => {
    const timer = setTimeout(() => opener.current?.scrollIntoView({ block: 'nearest' }), LAYOUT_MS)
    return () => clearTimeout(timer)
  }, [isOpen])

  const source = reading?.sources[reading.index]
  const current = reading !== null && source !== undefined && source.documentId === place.documentId

  const rememberOpener = (): void => {
    opener.current = document.activeElement instanceof HTMLElement ? document.activeElement : null
    openerSource.current = null
  }

  return {
    openPassage: ({ messageId, sources, source: chosen, marker }) => {
      opener.current = marker
      openerSource.current = { messageId, n: chosen.n }
      show({ messageId, sources, index: Math.max(0, sources.indexOf(chosen)), step: (reading?.step ?? 0) + 1 })
    },
    openFound: ({ document_id: documentId, page, start, end }) => {
      rememberOpener()
      const passage = { n: 1, documentId, page, start, end }
      show({ messageId: null, sources: [passage], index: 0, step: (reading?.step ?? 0) + 1 })
    },
    openDocument: (documentId) => {
      rememberOpener()
      setReading(null)
      place.go({ documentId, page: 1 })
    },
    close: () => {
      setReading(null)
      place.go({ documentId: null, page: 1 })
    },
    restoreFocus: () => {
      const source = openerSource.current
      if (opener.current?.isConnected === true) opener.current.focus()
      else if (source !== null) markerOf(source.messageId, source.n)?.focus()
    },
    highlight: current
      ? { start: source.start, end: source.end, key: `${reading.messageId ?? 'found'}:${source.n}:${reading.step}` }
      : null,
    sourceNavigation:
      current && reading.sources.length > 1
        ? {
            position: reading.index + 1,
            count: reading.sources.length,
            onMove: (delta) => {
              const { length } = reading.sources
              show({ ...reading, index: (reading.index + delta + length) % length, step: reading.step + 1 })
            },
          }
        : null,
  }
}
