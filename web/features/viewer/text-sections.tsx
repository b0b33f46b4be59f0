import { ArrowUp } from 'lucide-react'
import { useCallback, useEffect, useLayoutEffect, useRef, useState, type JSX } from 'react'

import { Button } from '#web/ui/button.tsx'

import { watchArrival } from './arrival.ts'
import { revealMark } from './passage-mark.ts'
import type { Passage, ViewerTarget } from './viewer-target.ts'
import { TextSection } from './text-section.tsx'
import styles from './text-sections.module.css'
import { useNearEnd } from './use-near-end.ts'
import { useScrollPosition } from './use-scroll-position.ts'

interface TextSectionsProps {
  documentId: string
  pages: number
  unit: 'Page' | 'Section' | 'Sheet'
  hardWrapped: boolean
  target: ViewerTarget
  passage: Passage | null
  scroller: HTMLElement
  onPage: (page: number) => void
  onGo: (page: number) => void
}

/** Earlier sections load only on request, so that nothing is inserted above the line being read. */
export function TextSections(props: TextSectionsProps): JSX.Element {
  const { documentId, pages, unit, hardWrapped, target, passage, scroller, onPage, onGo } = props
  const first = Math.min(Math.max(1, target.page), pages)
  const [shown, setShown] = useState({ from: first, to: first, target })
  // A section that is already rendered is scrolled to.
  if (shown.target !== target) {
    const isThere = first >= shown.from && first <= shown.to
    setShown({ from: isThere ? shown.from : first, to: isThere ? shown.to : first, target })
  }
  const { from, to } = shown

  const end = useRef<HTMLDivElement>(null)
  const extend = useCallback(() => setShown((now) => ({ ...now, to: Math.min(pages, now.to + 1) })), [pages])
  useNearEnd(scroller, end, to < pages, extend)

  const [arrival] = useState(() => watchArrival(scroller))
  useLayoutEffect(() => {
    const section = scroller.querySelector(`[data-section="${first}"]`)
    if (section) scroller.scrollBy({ top: topIn(scroller, section), behavior: 'instant' })
    arrival.arriveAt(first)
  }, [scroller, arrival, target, first])

  const targetPage = target.page
  const revealed = useRef<Passage | null>(null)
  const reveal = useCallback(
    (range: Range) => {
      // After a return to another section than the marked one, scrolling must not jump to the mark.
      if (revealed.current === passage || passage?.page !== targetPage) return
      revealed.current = passage
      revealMark(scroller, range)
      arrival.arriveAt(passage.page)
    },
    [scroller, arrival, targetPage, passage],
  )

  const position = useScrollPosition(scroller)
  useEffect(() => {
    if (position) onPage(arrival.page() ?? sectionInView(scroller, from))
  }, [scroller, arrival, position, from, onPage])

  return (
    <div className={styles.sections}>
      {from > 1 && (
        <div className={styles.before}>
          <Button variant="ghost" size="sm" onClick={() => onGo(from - 1)}>
            <ArrowUp size={14} /> {unit} {from - 1}
          </Button>
        </div>
      )}
      {Array.from({ length: to - from + 1 }, (_, index) => from + index).map((page) => (
        <TextSection
          key={page}
          documentId={documentId}
          page={page}
          label={`${unit} ${page}`}
          isSheet={unit === 'Sheet'}
          hardWrapped={hardWrapped}
          passage={passage?.page === page ? passage : null}
          scroller={scroller}
          onMarked={reveal}
        />
      ))}
      <div ref={end} />
    </div>
  )
}

function topIn(scroller: HTMLElement, element: Element): number {
  return element.getBoundingClientRect().top - scroller.getBoundingClientRect().top
}

/** The last section that begins above the reading line of the pane. */
function sectionInView(scroller: HTMLElement, from: number): number {
  const sections = [...scroller.querySelectorAll('[data-section]')]
  const begun = sections.filter((section) => topIn(scroller, section) < scroller.clientHeight * 0.4)
  return from + Math.max(0, begun.length - 1)
}
