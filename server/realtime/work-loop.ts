import type { Log } from '#server/base/log.ts'

export interface WorkLoop {
  wake(): void
  idle(): Promise<void>
}

/** Runs `work` sequentially while `hasWork` is true; logs and skips a failed piece. */
export function createWorkLoop(log: Log, hasWork: () => boolean, work: () => Promise<void>): WorkLoop {
  let isRunning = false
  let current = Promise.resolve()

  async function run(): Promise<void> {
    isRunning = true
    while (hasWork()) {
      try {
        await work()
      } catch (error) {
        log.error({ err: error }, 'a piece of realtime work failed')
      }
    }
    // Set in one turn with the last `hasWork`, so that no wake-up is lost.
    isRunning = false
  }

  return {
    wake() {
      if (!isRunning) current = run()
    },
    idle: () => current,
  }
}
