import { useEffect, useState, type JSX } from 'react'
import { createPortal } from 'react-dom'
import { loadable } from '#web/ui/loadable.tsx'

const Toaster = loadable(() => import('#web/ui/toaster.tsx'))

/** Dialogs hide regions without `aria-live` from screen readers; its value is off: each toast announces itself. */
export function Notifications(): JSX.Element | null {
  const [painted, setPainted] = useState(false)
  useEffect(() => {
    const frame = requestAnimationFrame(() => setPainted(true))
    return () => cancelAnimationFrame(frame)
  }, [])
  return painted
    ? createPortal(
        <div aria-live="off">
          <Toaster />
        </div>,
        document.body,
      )
    : null
}
