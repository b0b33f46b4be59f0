import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

let collector: NodeJS.GCFunction | undefined

/**
 * Returns V8's collector of this thread, which is there only with a flag. The flag concerns contexts that are made after it: only
 * one that is made here has the function.
 */
export function openCollector(): NodeJS.GCFunction {
  if (collector) return collector
  setFlagsFromString('--expose-gc')
  collector = runInNewContext('gc') as NodeJS.GCFunction
  setFlagsFromString('--no-expose-gc')
  return collector
}

/** Growth of a heap after a full collection, before the next one, in percent of what is in use. V8's own choice is up to 300. */
const GROWTH_PERCENT = 50
let frugalWork = 0

/**
 * Until the work ends, full collections of this process's heaps come sooner. Background work that allocates much would
 * otherwise make the process larger by 100 MB; answers are faster without.
 */
export async function withFrugalHeaps<Result>(work: () => Promise<Result>): Promise<Result> {
  frugalWork += 1
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`)
  try {
    return await work()
  } finally {
    frugalWork -= 1
    if (frugalWork === 0) setFlagsFromString('--heap-growing-percent=0')
  }
}
