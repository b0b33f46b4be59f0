/** The retrieval trace of one answer, which later phases amend; without a trace, amendments have no effect. */
import type { RetrievalTrace } from '#contract/trace.ts'

export interface TraceRecorder {
  readonly current: () => RetrievalTrace | undefined
  readonly amend: (change: (trace: RetrievalTrace) => RetrievalTrace) => void
  readonly addNote: (sentence: string) => void
}

export function createTraceRecorder(initial: RetrievalTrace | undefined): TraceRecorder {
  let trace = initial
  const amend: TraceRecorder['amend'] = (change) => {
    if (trace) trace = change(trace)
  }
  return {
    current: () => trace,
    amend,
    addNote: (sentence) => amend((amended) => ({ ...amended, notes: [...amended.notes, sentence] })),
  }
}
