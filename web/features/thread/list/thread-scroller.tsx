import { ArrowDown } from 'lucide-react'
import { useEffect, useLayoutEffect, useRef, useState, type JSX, type ReactNode } from 'react'
import { clearTargetMessage } from '#web/data/target-message.ts'
import { parseRouteState } from '#web/lib/route-state.ts'
import { Button } from '#web/ui/button.tsx'
import { findAnchor, holdAnchor, type ReadingAnchor } from './reading-anchor.ts'
import { showTarget } from './show-target.ts'
import { endOf } from './thread-end.ts'
import styles from './thread-scroller.module.css'

/** How far from the end still counts as being there. */
const NEAR_PX = 48
/** So many views of older messages are kept above what is read. */
const SPARE_VIEWS = 2

type ThreadScrollerProps = {
  /** Another thread begins at its newest message. */
  threadKey: string
  /** The person's newest message: on a change the view goes to the end, wherever it was. */
  ownMessageKey: string | undefined
  /** The oldest message: on a change the view stays where it was, as older ones came in above. */
  oldestKey: string | undefined
  onNearStart: (() => void) | null
  /** A message of the thread that somebody wants to see. */
  targetId: string | null
  children: ReactNode
}

/** Scrolls with the newest text while the reader is at the end, and leaves the reader alone otherwise. */
export function ThreadScroller(props: ThreadScrollerProps): JSX.Element {
  const { threadKey, ownMessageKey, oldestKey, onNearStart, targetId, children } = props
  const frame = useRef<HTMLDivElement>(null)
  const content = useRef<HTMLDivElement>(null)
  const following = useRef(true)
  /** Somebody has gone on to the sources below the text. */
  const isBeyond = useRef(false)
  const lastTop = useRef(0)
  const anchor = useRef<ReadingAnchor | null>(null)
  const [away, setAway] = useState(false)

  const toEnd = (): void => {
    following.current = true
    isBeyond.current = false
    const view = frame.current
    if (view === null || content.current === null) return
    view.scrollTo({ top: endOf(view, content.current) })
    lastTop.current = view.scrollTop
  }

  useLayoutEffect(toEnd, [threadKey, ownMessageKey])

  /** After the content changed: to its end, or to what was being read. */
  const settle = (): void => {
    const view = frame.current
    if (view === null || content.current === null) return
    if (following.current) {
      if (!isBeyond.current) view.scrollTo({ top: endOf(view, content.current) })
      anchor.current = null
    } else {
      if (anchor.current !== null) holdAnchor(view, content.current, anchor.current)
      anchor.current = findAnchor(view, content.current)
    }
    lastTop.current = view.scrollTop
  }

  // Before older messages are painted: what is read is not to move by a pixel.
  useLayoutEffect(settle, [oldestKey])

  useLayoutEffect(() => {
    if (targetId === null || !showTarget(targetId)) return
    following.current = false
    if (frame.current !== null && content.current !== null) {
      lastTop.current = frame.current.scrollTop
      anchor.current = findAnchor(frame.current, content.current)
    }
    clearTargetMessage(targetId)
  }, [targetId, oldestKey, threadKey])

  useEffect(() => {
    if (content.current === null) return
    let width = content.current.clientWidth
    const observer = new ResizeObserver(() => {
      const before = width
      width = content.current?.clientWidth ?? width
      // A source opened beside it makes the text narrower: the words that cite it are not to run away.
      if (width !== before && parseRouteState(location.search).source !== null) following.current = false
      settle()
    })
    observer.observe(content.current)
    if (frame.current !== null) observer.observe(frame.current)
    return () => observer.disconnect()
  }, [])

  const keepSpare = (): void => {
    const view = frame.current
    if (view !== null && view.scrollTop < SPARE_VIEWS * view.clientHeight) onNearStart?.()
  }

  const onScroll = (): void => {
    const view = frame.current
    if (view === null || content.current === null) return
    const distance = endOf(view, content.current) - view.scrollTop
    // Only a step upwards is the reader's wish to stay: the end also runs away when text came in since the last scroll.
    if (distance <= 1) following.current = true
    else if (view.scrollTop < lastTop.current) following.current = false
    else if (view.scrollTop > lastTop.current && distance < NEAR_PX) following.current = true
    if (distance >= -1) isBeyond.current = false
    else if (view.scrollTop > lastTop.current) isBeyond.current = true
    lastTop.current = view.scrollTop
    anchor.current = following.current ? null : findAnchor(view, content.current)
    setAway(distance > view.clientHeight)
    keepSpare()
  }

  // Step by step, a frame each, until there is enough above for the reader to scroll on without waiting.
  useEffect(() => {
    const request = requestAnimationFrame(keepSpare)
    return () => cancelAnimationFrame(request)
    // Nothing else adds room above or takes it away.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [threadKey, oldestKey, onNearStart === null])

  return (
    <div className={styles.area}>
      <div ref={frame} className={styles.frame} onScroll={onScroll}>
        <div ref={content} className={styles.content}>
          {children}
        </div>
      </div>
      {away && (
        <Button
          variant="secondary"
          size="icon"
          aria-label="To the newest message"
          className={styles.jump}
          onClick={toEnd}
        >
          <ArrowDown size={16} />
        </Button>
      )}
    </div>
  )
}
