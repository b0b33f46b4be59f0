import { lazy, Suspense, useEffect, useState, type JSX } from 'react'
import { createPortal } from 'react-dom'

const Toaster = lazy(() => import('#web/ui/toaster.tsx'))

/**
 * The notification region, fetched after the first paint so that no page waits for it. A modal dialog hides everything
 * else from screen readers, but for what has `aria-live`: the region stands beside the page and says so of itself, off,
 * because each notification is announced by an element of its own.
 */
export function Notifications(): JSX.Element | null {
  const [painted, setPainted] = useState(false)
  useEffect(() => {
    const frame = requestAnimationFrame(() => setPainted(true))
    return () => cancelAnimationFrame(frame)
  }, [])
  return painted
    ? createPortal(
        <div aria-live="off">
          <Suspense>
            <Toaster />
          </Suspense>
        </div>,
        document.body,
      )
    : null
}
