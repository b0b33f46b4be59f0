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
