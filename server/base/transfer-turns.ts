/**
 * Large bodies that pass through the only thread in chunks. Each turn of the event loop passes one chunk for every caller
 * with several bodies on their way, so that requests of others wait for one chunk and not for as many as there are bodies.
 */
import { currentCaller } from './caller.ts'

interface Lane {
  transfers: number
  readonly waiting: (() => void)[]
}

export interface Transfer {
  /** Runs at once if this is the caller's only transfer, else in its turn. */
  pass(run: () => void): void
  end(): void
}

const lanes = new Map<string, Lane>()
let isScheduled = false

function passChunks(): void {
  isScheduled = false
  for (const { waiting } of [...lanes.values()]) {
    waiting.shift()?.()
    if (waiting.length > 0) schedule()
  }
}

function schedule(): void {
  if (isScheduled) return
  isScheduled = true
  setImmediate(passChunks)
}

/** Call `end` once. */
export function openTransfer(caller = currentCaller() ?? ''): Transfer {
  const lane = lanes.get(caller) ?? { transfers: 0, waiting: [] }
  lanes.set(caller, lane)
  lane.transfers += 1
  return {
    pass(run) {
      if (lane.transfers === 1 && lane.waiting.length === 0) return run()
      lane.waiting.push(run)
      schedule()
    },
    end() {
      lane.transfers -= 1
      if (lane.transfers === 0) lanes.delete(caller)
    },
  }
}
