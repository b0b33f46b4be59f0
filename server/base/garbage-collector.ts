import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Returns V8's collector, which is there only with a flag. The flag concerns contexts that are made after it: no other has the function. */
export function openCollector(): NodeJS.GCFunction {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as NodeJS.GCFunction
  setFlagsFromString('--no-expose-gc')
  return collect
}
