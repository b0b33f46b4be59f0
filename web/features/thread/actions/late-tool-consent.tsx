import { lazy, Suspense, type JSX } from 'react'
import type { ToolRequest } from '#contract/tool-server.ts'

const Unloaded = (): JSX.Element => (
  <p role="alert">
    A tool asks for your permission, but the question could not be loaded. Reload the page to answer it.
  </p>
)

/** Few conversations have tools, so its code is not a part of the page. */
const ToolConsent = lazy(() =>
  import('./tool-consent.tsx').catch((error: unknown) => {
    console.error(error)
    return { default: Unloaded }
  }),
)

export const LateToolConsent = ({ request }: { request: ToolRequest }): JSX.Element => (
  <Suspense fallback={null}>
    <ToolConsent request={request} />
  </Suspense>
)
