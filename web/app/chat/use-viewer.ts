import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import type { FoundPassage } from '#contract/search.ts'
import { isPassageSource, type PassageSource } from '#contract/source.ts'
import { messageQuery } from '#web/data/messages.ts'
import { messageElementId } from '#web/features/thread/message/show-target.ts'
import { citedParts, citedPassages } from '#web/lib/messages/citations.ts'
import { NO_DOCUMENT, type CitedSource, type MarkedPassage } from '#web/lib/route-state.ts'
import { focusMessageBox } from './message-box.ts'
import { DRAWER_BUTTON_ID } from './use-panel.ts'
import type { RouteControl } from './use-route-state.ts'

/** Columns and margin notes need this time for their new layout. */
const LAYOUT_MS = 150

export type Viewer = {
  openPassage: (choice: {
    messageId: string
    sources: PassageSource[]
    source: PassageSource
    marker: HTMLElement
  }) => void
  openDocument: (documentId: string) => void
  openFound: (passage: FoundPassage) => void
  close: () => void
  /** Focuses the marker or row that opened the viewer; if it is gone, the drawer's button or the message box. */
  restoreFocus: () => void
  highlight: (MarkedPassage & { key: string }) | null
  /** The name in the answer's sources; the document may be deleted. */
  citedName: string | null
  sourceNavigation: { position: number; count: number; onMove: (delta: -1 | 1) => void } | null
}

/** Finds a source's marker. Its margin note disappears while the viewer is open; its marker stays. */
const markerOf = ({ messageId, n }: CitedSource): HTMLElement | null =>
  document.getElementById(messageElementId(messageId))?.querySelector(`[data-citation="${n}"]`) ?? null

type OpenedAnswer = { messageId: string; sources: readonly PassageSource[] }

/** The passages that previous and next step through, and the index of the open one. */
type OpenSources = { sources: readonly PassageSource[]; index: number }

const sameSource = (source: PassageSource, { documentId, passage, source: cited }: RouteControl): boolean =>
  source.n === cited?.n &&
  source.documentId === documentId &&
  source.page === passage?.page &&
  source.start === passage.start &&
  source.end === passage.end

/** Null if the answer, fetched again after a reload, no longer contains the open source. */
function useOpenSources(route: RouteControl, openedAnswer: OpenedAnswer | null): OpenSources | null {
  const { chatId, source: cited } = route
  const isAtHand = cited === null || cited.messageId === openedAnswer?.messageId
  const { data: message } = useQuery({
    ...messageQuery(chatId ?? '', cited?.messageId ?? ''),
    enabled: !isAtHand && chatId !== null,
  })
  if (cited === null) return null
  const fetchedSources = (): readonly PassageSource[] => {
    const all = message?.metadata?.sources ?? []
    const openSource = all
      .filter(isPassageSource)
      .flatMap(citedParts)
      .find((source) => sameSource(source, route))
    return openSource === undefined ? [] : citedPassages(openSource, all, message?.content ?? '')
  }
  const sources = isAtHand && openedAnswer !== null ? openedAnswer.sources : fetchedSources()
  const index = sources.findIndex((source) => sameSource(source, route))
  return index === -1 ? null : { sources, index }
}

export function useViewer(route: RouteControl): Viewer {
  const [openedAnswer, setOpenedAnswer] = useState<OpenedAnswer | null>(null)
  /** Makes the highlight key unique: opening the same passage twice scrolls to it twice. */
  const [step, setStep] = useState(0)
  const open = useOpenSources(route, openedAnswer)
  const opener = useRef<HTMLElement | null>(null)
  const openerSource = useRef<CitedSource | null>(null)

  const show = (documentId: string, passage: MarkedPassage, source: CitedSource | null): void => {
    setStep(step + 1)
    route.navigate({ documentId, page: passage.page, passage, source }, { replace: route.documentId !== null })
  }
  const showSource = (messageId: string, { documentId, page, start, end, n }: PassageSource): void =>
    show(documentId, { page, start, end }, { messageId, n })

  // The conversation changes its width with the viewer: keep the pressed marker in view.
  const isOpen = route.documentId !== null
  useEffect(() => {
    const timer = setTimeout(() => opener.current?.scrollIntoView({ block: 'nearest' }), LAYOUT_MS)
    return () => clearTimeout(timer)
  }, [isOpen])

  const rememberOpener = (): void => {
    const focused = document.activeElement
    // Another version, or a file that the document names: its button closes with the viewer.
    if (focused?.closest('[data-viewer]') != null) return
    opener.current = focused instanceof HTMLElement && focused !== document.body ? focused : null
    openerSource.current = null
  }

  const { passage, source: cited } = route
  return {
    openPassage: ({ messageId, sources, source, marker }) => {
      opener.current = marker
      openerSource.current = { messageId, n: source.n }
      setOpenedAnswer({ messageId, sources })
      showSource(messageId, source)
    },
    openFound: ({ document_id: documentId, page, start, end }) => {
      rememberOpener()
      show(documentId, { page, start, end }, null)
    },
    openDocument: (documentId) => {
      rememberOpener()
      route.navigate({ ...NO_DOCUMENT, documentId })
    },
    close: () => {
      // After a reload there is no pressed marker: use the marker of the open source.
      openerSource.current = cited ?? openerSource.current
      route.navigate(NO_DOCUMENT)
    },
    restoreFocus: () => {
      const pressed = opener.current?.isConnected === true ? opener.current : null
      const marker = openerSource.current && markerOf(openerSource.current)
      // A file is opened in the drawer or the palette, which is closed by then.
      const target = pressed ?? marker ?? document.getElementById(DRAWER_BUTTON_ID)
      if (target === null) focusMessageBox()
      else target.focus()
    },
    highlight:
      passage === null
        ? null
        : { ...passage, key: [cited?.messageId, cited?.n, passage.page, passage.start, passage.end, step].join(':') },
    citedName: open?.sources[open.index]?.filename ?? null,
    sourceNavigation:
      open !== null && cited !== null && open.sources.length > 1
        ? {
            position: open.index + 1,
            count: open.sources.length,
            onMove: (delta) => {
              const next = open.sources.at((open.index + delta) % open.sources.length)
              if (next === undefined) return
              // Sources that were fetched after a reload stay the same while stepping.
              setOpenedAnswer({ messageId: cited.messageId, sources: open.sources })
              showSource(cited.messageId, next)
            },
          }
        : null,
  }
}
