/** Names who a request serves, so that connections are shared fairly among callers and not among requests. */
import { AsyncLocalStorage } from 'node:async_hooks'

interface Caller {
  readonly address: string
  person: string | undefined
  releaseBody: (() => void) | undefined
}

const callers = new AsyncLocalStorage<Caller>()

/** @param address as `addressKey` returns it: one customer's network */
export const runAsCaller = <T>(address: string, run: () => T): T =>
  callers.run({ address: `address:${address}`, person: undefined, releaseBody: undefined }, run)

/** From now on, the work of this request counts for the person instead of the address. */
export function identifyCaller(person: string): void {
  const caller = callers.getStore()
  if (caller) caller.person = person
}

/** The person, or the address of a request without a verified person. Undefined outside requests. */
export function currentCaller(): string | undefined {
  const caller = callers.getStore()
  return caller?.person ?? caller?.address
}

/** Names what frees the place of this request's body among the bodies in memory. */
export function holdBody(release: () => void): void {
  const caller = callers.getStore()
  if (caller) caller.releaseBody = release
}

/** From now on, the body of this request is read in parts that go to disk or on: it holds no place in memory. */
export function streamBody(): void {
  callers.getStore()?.releaseBody?.()
}
