import type { Log } from '#server/base/log.ts'
import { isConnectionFailure } from '#server/database/errors.ts'

/** Retries while the database is unreachable. Logs any other error and returns undefined, so later work continues. */
export type Retry = <Result>(run: () => Promise<Result>) => Promise<Result | undefined>

const RETRY_DELAYS_MS = [50, 100, 250, 500, 1000, 2000]

export function createRetry(log: Log, isClosed: () => boolean): Retry {
  return async function retry(run) {
    for (let failures = 0; !isClosed(); failures += 1) {
      try {
        return await run()
      } catch (error) {
        if (!isConnectionFailure(error)) {
          log.error({ err: error }, 'realtime could not go on with a piece of work')
          return undefined
        }
        const delayMs = RETRY_DELAYS_MS[Math.min(failures, RETRY_DELAYS_MS.length - 1)]
        await new Promise((resolve) => setTimeout(resolve, delayMs))
      }
    }
    return undefined
  }
}
