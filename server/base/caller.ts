/** Names who a request serves, so that connections are shared fairly among callers and not among requests. */
import { AsyncLocalStorage } from 'node:async_hooks'

/** A person's session, whose end ends what is sent in it. */
export interface CallerSession {
  readonly person: string
  readonly sessionId: string
}

interface Caller {
  readonly address: string
  person: string | undefined
  session: CallerSession | undefined
  releaseBody: (() => void) | undefined
}

const callers = new AsyncLocalStorage<Caller>()

/** @param address as `addressKey` returns it: one customer's network */
export const runAsCaller = <T>(address: string, run: () => T): T =>
  callers.run({ address: `address:${address}`, person: undefined, session: undefined, releaseBody: undefined }, run)

/** From now on, the work of this request counts for the person instead of the address. */
export function identifyCaller(person: string): void {
  const caller = callers.getStore()
  if (caller) caller.person = person
}

export function identifySession(session: CallerSession): void {
  const caller = callers.getStore()
  if (caller) caller.session = session
}

/** Undefined for a request without the token of a session. */
export const currentSession = (): CallerSession | undefined => callers.getStore()?.session

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
