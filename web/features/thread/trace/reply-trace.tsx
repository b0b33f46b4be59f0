import { Route } from 'lucide-react'
import { useState, type JSX } from 'react'
import message from '#web/features/thread/message/message.module.css'
import { describeTrace } from '#web/lib/messages/describe-trace.ts'
import { loadable } from '#web/ui/loadable.tsx'
import type { TraceFactsProps } from './trace-facts.tsx'

const TraceFacts = loadable(() => import('./trace-facts.tsx'), {
  unloaded: <p role="alert">This could not be loaded. Reload the page.</p>,
})

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
      {isOpened && <TraceFacts {...facts} />}
    </details>
  )
}
