import { useEffect, useState } from 'react'

interface ScrollPosition {
  top: number
  width: number
  height: number
}

/** Scroll offset and view size of an element, at most once per frame; null before the first measurement. */
export function useScrollPosition(element: HTMLElement | null): ScrollPosition | null {
  const [position, setPosition] = useState<ScrollPosition | null>(null)

  useEffect(() => {
    if (!element) return
    let frame = 0
    const look = () => {
      frame = 0
      setPosition({ top: element.scrollTop, width: element.clientWidth, height: element.clientHeight })
    }
    const lookSoon = () => {
      frame ||= requestAnimationFrame(look)
    }
    const observer = new ResizeObserver(lookSoon)
    observer.observe(element)
    element.addEventListener('scroll', lookSoon, { passive: true })
    return () => {
      cancelAnimationFrame(frame)
      observer.disconnect()
      element.removeEventListener('scroll', lookSoon)
    }
  }, [element])

  return position
}
