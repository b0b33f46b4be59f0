export interface Arrival {
  /** Notes that the scroll now stands where a request for this page has led. */
  arriveAt: (page: number) => void
  /** The page that was gone to; null once the person has scrolled away. */
  page: () => number | null
}

/**
 * Remembers the page that was asked for while the scroll rests where that led: a short page, or the last one, need not
 * be the one that fills the view.
 */
export function watchArrival(scroller: { scrollTop: number }): Arrival {
  let arrived: { page: number; top: number } | null = null
  return {
    arriveAt: (page) => {
      arrived = { page, top: scroller.scrollTop }
    },
    page: () => (arrived && Math.abs(scroller.scrollTop - arrived.top) < 2 ? arrived.page : null),
  }
}
