import { Route } from 'lucide-react'
import { Suspense, useState, type JSX } from 'react'
import message from '#web/features/thread/message/message.module.css'
import { describeTrace } from '#web/lib/messages/describe-trace.ts'
import { latePart } from '#web/ui/late-part.tsx'
import type { TraceFactsProps } from './trace-facts.tsx'

const TraceFacts = latePart(() => import('./trace-facts.tsx'), 'This could not be loaded. Reload the page.')

export function ReplyTrace(facts: TraceFactsProps): JSX.Element | null {
  const { trace, steps } = facts.metadata ?? {}
  const [isOpened, setOpened] = useState(false)
  if (trace === undefined && steps === undefined) return null
  return (
    <details className={message.tool} onToggle={() => setOpened(true)}>
      <summary>
        <Route size={13} aria-hidden />
        <span className={message.toolName}>How this was answered</span>
        <span className={message.toolPreview}>{describeTrace(trace)}</span>
      </summary>
      {isOpened && (
        <Suspense fallback={null}>
          <TraceFacts {...facts} />
        </Suspense>
      )}
    </details>
  )
}
