import { ArrowDown } from 'lucide-react'
import { useEffect, useLayoutEffect, useRef, useState, type JSX, type ReactNode } from 'react'
import { clearTargetMessage } from '#web/data/target-message.ts'
import { showTarget } from '#web/features/thread/message/show-target.ts'
import { parseRouteState } from '#web/lib/route-state.ts'
import { Button } from '#web/ui/button.tsx'
import { findAnchor, restoreAnchor, type ReadingAnchor } from './reading-anchor.ts'
import { endOf } from './thread-end.ts'
import styles from './thread-scroller.module.css'

/** Distance from the end that counts as being at the end. */
const NEAR_PX = 48
/** Views of older messages that are rendered in advance. */
const SPARE_VIEWS = 2

type ThreadScrollerProps = {
  /** A change starts at the newest message. */
  threadKey: string
  /** A change scrolls to the end. */
  ownMessageKey: string | undefined
  /** A change keeps the scroll position: older messages were added above. */
  oldestKey: string | undefined
  onNearStart: (() => void) | null
  targetId: string | null
  children: ReactNode
}

/** Follows the newest text while the view is at the end, and keeps its position otherwise. */
export function ThreadScroller(props: ThreadScrollerProps): JSX.Element {
  const { threadKey, ownMessageKey, oldestKey, onNearStart, targetId, children } = props
  const frame = useRef<HTMLDivElement>(null)
  const content = useRef<HTMLDivElement>(null)
  const following = useRef(true)
  /** True while the view is below the text, at the sources. */
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

  const settle = (): void => {
    const view = frame.current
    if (view === null || content.current === null) return
    if (following.current) {
      if (!isBeyond.current) view.scrollTo({ top: endOf(view, content.current) })
      anchor.current = null
    } else {
      if (anchor.current !== null) restoreAnchor(view, content.current, anchor.current)
      anchor.current = findAnchor(view, content.current)
    }
    lastTop.current = view.scrollTop
  }

  // Before paint, so that the text does not move.
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
      // A viewer opened next to the thread narrows the text: keep the citing words in place.
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
    // Only scrolling up stops following: the end also moves away when text is added.
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

  // One step per frame, until enough is rendered above to scroll on without waiting.
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
