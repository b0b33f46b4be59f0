import { ArrowDown } from 'lucide-react'
import { useEffect, useLayoutEffect, useRef, useState, type JSX, type ReactNode } from 'react'
import { Button } from '#web/ui/button.tsx'
import styles from './thread-scroller.module.css'

/** How far from the end still counts as being there. */
const NEAR_PX = 48

type ThreadScrollerProps = {
  /** Another thread begins at its newest message. */
  threadKey: string
  /** The person's newest message: on a change the view goes to the end, wherever it was. */
  ownMessageKey: string | undefined
  /** The oldest message: on a change the view stays where it was, as older ones came in above. */
  oldestKey: string | undefined
  onNearStart: (() => void) | null
  children: ReactNode
}

/** Scrolls with the newest text while the reader is at the end, and leaves the reader alone otherwise. */
export function ThreadScroller(props: ThreadScrollerProps): JSX.Element {
  const { threadKey, ownMessageKey, oldestKey, onNearStart, children } = props
  const frame = useRef<HTMLDivElement>(null)
  const content = useRef<HTMLDivElement>(null)
  const following = useRef(true)
  const lastTop = useRef(0)
  const before = useRef({ oldestKey, height: 0 })
  const [away, setAway] = useState(false)

  const toEnd = (): void => {
    following.current = true
    frame.current?.scrollTo({ top: frame.current.scrollHeight })
    lastTop.current = frame.current?.scrollTop ?? 0
  }

  useLayoutEffect(toEnd, [threadKey, ownMessageKey])

  useLayoutEffect(() => {
    const view = frame.current
    if (view === null) return
    const { oldestKey: oldestBefore, height } = before.current
    if (oldestBefore !== undefined && oldestBefore !== oldestKey && !following.current) {
      view.scrollTop += view.scrollHeight - height
    }
    before.current = { oldestKey, height: view.scrollHeight }
  })

  useEffect(() => {
    if (content.current === null) return
    let width = content.current.clientWidth
    const observer = new ResizeObserver(() => {
      const before = width
      width = content.current?.clientWidth ?? width
      // A reader opened beside it makes the text narrower: what was being read is not to run away.
      if (width !== before) following.current = false
      else if (following.current) frame.current?.scrollTo({ top: frame.current.scrollHeight })
      lastTop.current = frame.current?.scrollTop ?? 0
    })
    observer.observe(content.current)
    if (frame.current !== null) observer.observe(frame.current)
    return () => observer.disconnect()
  }, [])

  const onScroll = (): void => {
    const view = frame.current
    if (view === null) return
    const distance = view.scrollHeight - view.scrollTop - view.clientHeight
    // Only a step upwards is the reader's wish to stay: the end also runs away when text came in since the last scroll.
    if (distance <= 1) following.current = true
    else if (view.scrollTop < lastTop.current) following.current = false
    else if (view.scrollTop > lastTop.current && distance < NEAR_PX) following.current = true
    lastTop.current = view.scrollTop
    setAway(distance > view.clientHeight)
    if (view.scrollTop < view.clientHeight) onNearStart?.()
  }

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
