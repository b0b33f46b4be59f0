import type { OperationKind } from '#server/base/tracing.ts'

export interface Instrument {
  /** With dots, as OpenTelemetry names it; Prometheus names have underscores and the unit. */
  readonly name: string
  readonly help: string
  /** Holds the name of the operation. */
  readonly label: string
}

/** The duration of each kind of operation that becomes a metric. Statements are spans only: their transactions are measured. */
export const DURATIONS: Readonly<Partial<Record<OperationKind, Instrument>>> = {
  request: { name: 'alcove.request.duration', help: 'HTTP requests until the answer begins', label: 'service' },
  transaction: { name: 'alcove.transaction.duration', help: 'database transactions with the wait for a connection', label: 'role' }, // prettier-ignore
  job: { name: 'alcove.job.duration', help: 'background jobs', label: 'queue' },
  parse: { name: 'alcove.parse.duration', help: 'reading of files, recognition of scans included', label: 'parser' },
  index: { name: 'alcove.index.duration', help: 'indexing of documents that are read', label: 'unit' },
  search: { name: 'alcove.search.duration', help: 'searches in documents', label: 'unit' },
  model: { name: 'alcove.model.duration', help: 'requests to models', label: 'purpose' },
  reply: { name: 'alcove.reply.duration', help: 'answers from claim to storage', label: 'kind' },
}

export const PHASES: Instrument = {
  name: 'alcove.reply.phase.duration',
  help: 'phases of answers: found (passages), tools, begun (first text), written, checked',
  label: 'phase',
}

/** Seconds: an index look-up to a long answer. */
export const DURATION_BUCKETS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]

export const SUMS: Readonly<Record<string, Instrument>> = {
  model_tokens: { name: 'alcove.model.tokens', help: 'tokens that model servers counted', label: 'direction' },
}
