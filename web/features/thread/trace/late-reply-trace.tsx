import { lazy, Suspense, type JSX } from 'react'
import type { ReplyTraceProps } from './reply-trace.tsx'

const Unloaded = (): JSX.Element => <p role="alert">How this was answered could not be loaded. Reload the page.</p>

/** It shows where tool messages do, which few people switch on, so its code is not a part of the page. */
const ReplyTrace = lazy(() =>
  import('./reply-trace.tsx').catch((error: unknown) => {
    console.error(error)
    return { default: Unloaded }
  }),
)

export const LateReplyTrace = (props: ReplyTraceProps): JSX.Element => (
  <Suspense fallback={null}>
    <ReplyTrace {...props} />
  </Suspense>
)
