/**
 * Ends a reading process that has said what it has to say. `process.exit` waits for the compiler's threads, which may be
 * waiting for this one, and then never comes back (nodejs/node#54918).
 */
export function endProcess(): never {
  process.kill(process.pid, 'SIGKILL')
  throw new Error('a killed process went on')
}
