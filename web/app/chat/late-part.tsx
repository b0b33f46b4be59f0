import { Suspense, type JSX, type ReactNode } from 'react'
import { ErrorBoundary } from '#web/app/error-boundary.tsx'

/** A part whose code loads later, and without which the page works too: nothing while it is missing. */
export function LatePart({ children }: { children: ReactNode }): JSX.Element {
  return (
    <ErrorBoundary isQuiet>
      <Suspense>{children}</Suspense>
    </ErrorBoundary>
  )
}
