import { failScope, runInFailureScope } from './failure-scope.ts'

/** The next turn repeats the work. */
const goOn = () => undefined

/** As `setInterval`; an error that a turn throws, or its promise, is reported and ends that turn only. */
export function repeat(run: () => unknown, intervalMs: number): NodeJS.Timeout {
  return runInFailureScope(goOn, () =>
    setInterval(() => {
      Promise.try(run).catch((error: unknown) => failScope(goOn, error))
    }, intervalMs),
  )
}
