import type { AnswerStep } from '#contract/message.ts'
import { phases } from '#server/base/tracing.ts'

export interface Stopwatch {
  readonly steps: readonly AnswerStep[]
  lap(name: AnswerStep['name']): void
}

export function startStopwatch(): Stopwatch {
  const steps: AnswerStep[] = []
  let since = performance.now()
  return {
    steps,
    lap(name) {
      const now = performance.now()
      steps.push({ name, ms: Math.round(now - since) })
      phases.publish({ name, ms: now - since })
      since = now
    },
  }
}
