import { useEffect, useState } from 'react'
import { PRODUCT_NAME } from '#contract/product-names.ts'

/** Sets the tab's title, with a mark when a reply has finished, or waits for the person, while the tab was hidden. */
export function usePageTitle(title: string | null, waiting: boolean): void {
  const [before, setBefore] = useState(waiting)
  const [unseen, setUnseen] = useState(false)
  if (before !== waiting) {
    setBefore(waiting)
    if (!waiting && document.hidden) setUnseen(true)
  }
  useEffect(() => {
    const seen = (): void => {
      if (!document.hidden) setUnseen(false)
    }
    document.addEventListener('visibilitychange', seen)
    return () => document.removeEventListener('visibilitychange', seen)
  }, [])
  useEffect(() => {
    document.title = `${unseen ? '● ' : ''}${title === null ? PRODUCT_NAME : `${title} · ${PRODUCT_NAME}`}`
  }, [title, unseen])
}
