import { useLayoutEffect, useState, type RefObject } from 'react'

/** The element that scrolls a list, and the height of what is above the list within it. */
export function usePositionInScroller(list: RefObject<HTMLElement | null>): {
  scroller: HTMLElement | null
  scrollMargin: number
} {
  const [position, setPosition] = useState<{ scroller: HTMLElement | null; scrollMargin: number }>({
    scroller: null,
    scrollMargin: 0,
  })
  useLayoutEffect(() => {
    const element = list.current
    if (element === null) return
    const around = ancestorsUpToScroller(element)
    const scroller = around.at(-1) ?? null
    let known: number | undefined
    const measure = (): void => {
      const scrollMargin = scroller === null ? 0 : offsetWithin(element, scroller)
      if (scrollMargin === known) return
      // While its beginning is out of view, the list stays where it is whatever comes or goes above it.
      if (known !== undefined && scroller !== null && scroller.scrollTop > known)
        scroller.scrollTop += scrollMargin - known
      known = scrollMargin
      setPosition({ scroller, scrollMargin })
    }
    // Before the first frame, which would show no row otherwise.
    measure()
    // A scrolling element of a fixed height does not change with what is above the list in it.
    const sizes = new ResizeObserver(measure)
    const observeSizes = (): void => {
      sizes.disconnect()
      for (const ancestor of around) for (const box of [ancestor, ...ancestor.children]) sizes.observe(box)
    }
    const contents = new MutationObserver(observeSizes)
    for (const ancestor of around) contents.observe(ancestor, { childList: true })
    observeSizes()
    return () => {
      sizes.disconnect()
      contents.disconnect()
    }
  }, [list])
  return position
}

/** The elements around this one, the scrolling one last; none if no element scrolls it. */
function ancestorsUpToScroller(element: HTMLElement): HTMLElement[] {
  const around: HTMLElement[] = []
  for (let parent = element.parentElement; parent !== null; parent = parent.parentElement) {
    around.push(parent)
    if (/auto|scroll/.test(getComputedStyle(parent).overflowY)) return around
  }
  return []
}

const offsetWithin = (element: HTMLElement, scroller: HTMLElement): number =>
  Math.round(element.getBoundingClientRect().top - scroller.getBoundingClientRect().top + scroller.scrollTop)
