import { useEffect, type RefObject } from 'react'

/** Distance below the view at which the next part loads, so that reading does not run into a gap. */
const AHEAD = '0px 0px 800px 0px'

/** Also calls back while the end stays near, so that short sections fill the pane. */
export function useNearEnd(
  scroller: HTMLElement,
  end: RefObject<HTMLElement | null>,
  isMore: boolean,
  onNear: () => void,
): void {
  useEffect(() => {
    const element = end.current
    if (!element || !isMore) return
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.at(-1)?.isIntersecting) onNear()
      },
      { root: scroller, rootMargin: AHEAD },
    )
    observer.observe(element)
    // An observer reports crossings only: growing content may leave the end in view without one.
    const resizes = new ResizeObserver(() => {
      observer.unobserve(element)
      observer.observe(element)
    })
    if (element.parentElement) resizes.observe(element.parentElement)
    return () => {
      observer.disconnect()
      resizes.disconnect()
    }
  }, [scroller, end, isMore, onNear])
}
