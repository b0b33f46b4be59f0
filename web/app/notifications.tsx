import { lazy, Suspense, useEffect, useState, type JSX } from 'react'

const Toaster = lazy(() => import('#web/ui/toaster.tsx'))

/** The notification region, fetched after the first paint so that no page waits for it. */
export function Notifications(): JSX.Element | null {
  const [painted, setPainted] = useState(false)
  useEffect(() => {
    const frame = requestAnimationFrame(() => setPainted(true))
    return () => cancelAnimationFrame(frame)
  }, [])
  return painted ? (
    <Suspense>
      <Toaster />
    </Suspense>
  ) : null
}
