import type { RetrievalTrace } from '#contract/trace.ts'
import { count } from '#web/lib/format/count.ts'

export function describeTrace(trace: RetrievalTrace | undefined): string {
  if (trace === undefined) return 'documents not searched'
  const ms = `${Math.round(trace.ms)} ms`
  if (trace.scope === 'whole') return `read whole: ${describePages(trace)} · ${ms}`
  const shown = trace.considered.filter(({ cut }) => cut === null).length
  const messages = trace.messages ?? []
  const said = messages.filter(({ cut }) => cut === null).length
  const leftOut = [...trace.considered, ...messages].filter(({ cut }) => cut === 'room').length
  const parts = [
    `${shown} of ${count(trace.matched, 'passage', 'passages')}`,
    ...(trace.messages === undefined ? [] : [`${said} of ${count(messages.length, 'message', 'messages')}`]),
    ...(leftOut === 0 ? [] : [`no room for ${leftOut}`]),
  ]
  return `${parts.join(', ')} · ${ms}`
}

const describePages = ({ pages, matched }: RetrievalTrace): string =>
  pages === undefined ? count(matched, 'page', 'pages') : `${pages.read} of ${count(pages.of, 'page', 'pages')}`
