import { Suspense, type JSX } from 'react'
import type { ToolRequest } from '#contract/tool-server.ts'
import { latePart } from '#web/ui/late-part.tsx'

const ToolConsent = latePart(
  () => import('./tool-consent.tsx'),
  'A tool asks for your permission, but the question could not be loaded. Reload the page to answer it.',
)

export const LateToolConsent = ({ request }: { request: ToolRequest }): JSX.Element => (
  <Suspense fallback={null}>
    <ToolConsent request={request} />
  </Suspense>
)
