import { type Addition, additions, type Operation, operations, type Phase, phases } from '#server/base/tracing.ts'

export interface Recorder {
  readonly onEnd: (operation: Operation, seconds: number) => void
  readonly onPhase: (phase: Phase) => void
  readonly onAddition: (addition: Addition) => void
}

export const outcomeOf = ({ error, hasFailed = false }: Operation): 'ok' | 'failed' =>
  error !== undefined || hasFailed ? 'failed' : 'ok'

const ignore = () => undefined

/**
 * Tells the recorder of each operation that begins from now on, and of additions and phases with a value that can be recorded.
 * A recorder must not throw: Node would end the process.
 */
export function subscribe({ onEnd, onPhase, onAddition }: Recorder): () => void {
  const startedAt = new WeakMap<Operation, number>()
  const listeners = {
    start: (operation: Operation) => void startedAt.set(operation, performance.now()),
    asyncEnd(operation: Operation) {
      const since = startedAt.get(operation)
      if (since !== undefined) onEnd(operation, (performance.now() - since) / 1000)
    },
    end: ignore,
    asyncStart: ignore,
    error: ignore,
  }
  operations.subscribe(listeners)
  const unsubscribe = [
    phases.subscribe((phase) => {
      if (Number.isFinite(phase.ms) && phase.ms >= 0) onPhase(phase)
    }),
    additions.subscribe((addition) => {
      // Counters throw on a negative one, and a model server may report any number of tokens.
      if (Number.isFinite(addition.value) && addition.value > 0) onAddition(addition)
    }),
  ]
  return () => {
    operations.unsubscribe(listeners)
    for (const end of unsubscribe) end()
  }
}
