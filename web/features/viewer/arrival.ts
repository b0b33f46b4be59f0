export interface Arrival {
  /** Records the scroll position that a request for this page led to. */
  arriveAt: (page: number) => void
  /** The requested page; null once the person has scrolled away. */
  page: () => number | null
}

/** Remembers the requested page until the person scrolls: a short or last page may not fill the view. */
export function watchArrival(scroller: { scrollTop: number }): Arrival {
  let arrived: { page: number; top: number } | null = null
  return {
    arriveAt: (page) => {
      arrived = { page, top: scroller.scrollTop }
    },
    page: () => (arrived && Math.abs(scroller.scrollTop - arrived.top) < 2 ? arrived.page : null),
  }
}
