import { type Log } from '#server/base/log.ts'

export interface WorkLoop {
  /** There may be work now. */
  wake(): void
  /** Resolves when nothing is under way. */
  idle(): Promise<void>
}

/** Does work one piece after the other for as long as there is some; a piece that fails is logged and left. */
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
    // In the same turn as the last look, so that no waking falls in between.
    isRunning = false
  }

  return {
    wake() {
      if (!isRunning) current = run()
    },
    idle: () => current,
  }
}
