import { lazy, Suspense, useEffect, useState, type JSX } from 'react'
import { createPortal } from 'react-dom'

const Toaster = lazy(() => import('#web/ui/toaster.tsx'))

/**
 * Loads the notification region after the first paint. A modal dialog hides everything without `aria-live` from screen
 * readers, so the region has it; its value is off because each toast announces itself.
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
