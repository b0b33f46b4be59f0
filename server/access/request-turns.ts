/**
 * Requests share one thread and few processors. A caller who has used much lately begins one request at a time while
 * others are active, and leaves most of the thread's time to them; bodies that wait in memory are few for each caller.
 * Usual requests never wait here.
 */
import type { HttpBindings } from '@hono/node-server'
import type { Context, MiddlewareHandler } from 'hono'
import { getCookie } from 'hono/cookie'
import { currentCaller, holdBody } from '#server/base/caller.ts'
import { type Admission, callerOf, createAdmission, SERVICE_CALLER } from '#server/database/admission.ts'
import { type CallerUsage, createCallerUsage } from '#server/database/caller-usage.ts'
import { tokenOrApiKeyOf } from './authenticate.ts'
import { hasBody } from './receive-body.ts'
import type { TokenVerifier } from './tokens.ts'

/** Bodies that are read whole have at most 5 MiB, most of them 1 or 2. */
const MAX_BODIES_PER_CALLER = 32
/** A request that takes longer mostly waits: for a statement, another server, or its client. */
const MAX_TURN_MS = 100

/** Requests of one caller that count at the same time: twenty at once use the thread one after the other. */
const MAX_COUNTED = 2

/** After a turn, a caller who is slowed down rests this many times as long as the thread was busy meanwhile. */
const REST_FACTOR = 4

interface TurnOptions {
  /** The name of the cookie that may bring the token. */
  readonly sessionCookie: string
  /** Time that requests of each caller took, each up to the length of a turn. */
  readonly usage?: CallerUsage
  /** Milliseconds for which this thread has been busy since its start. */
  readonly readBusyMs?: () => number
}

/** A request whose token is wrong counts for its address; its route says what is wrong. */
async function findCaller(context: Context, tokens: TokenVerifier, sessionCookie: string): Promise<string | undefined> {
  const token = tokenOrApiKeyOf(context) ?? getCookie(context, sessionCookie)
  const claims = token === undefined ? undefined : await tokens.verify(token).catch(() => undefined)
  return (claims && callerOf(claims)) ?? currentCaller()
}

/** Returns what frees the place; later calls of it do nothing. */
async function enter(admission: Admission, caller: string): Promise<() => void> {
  const turn = admission.enter(caller)
  if (turn) await turn
  let isOver = false
  return function leave() {
    if (isOver) return
    isOver = true
    admission.leave(caller)
  }
}

/** Mounted by each service before it reads bodies. @throws AppError `rate_limited`, `unavailable` */
export function takeTurns(
  tokens: TokenVerifier,
  {
    sessionCookie,
    usage = createCallerUsage(undefined, MAX_COUNTED),
    readBusyMs = () => performance.eventLoopUtilization().active,
  }: TurnOptions,
): MiddlewareHandler {
  const turns = createAdmission({ places: Infinity, placesPerCaller: Infinity, waitsFor: 'their turn' }, usage)
  const bodies = createAdmission({
    places: Infinity,
    placesPerCaller: MAX_BODIES_PER_CALLER,
    waitsFor: 'earlier ones',
  })

  /** Requests that pass two routers. */
  const inTurn = new WeakSet<Request>()

  /** The turn lasts until the response is sent, and the rest after it. */
  async function runInTurn(context: Context, caller: string, next: () => Promise<void>): Promise<void> {
    const leave = await enter(turns, caller)
    const busyBefore = readBusyMs()
    let isOver = false
    const end = () => {
      if (isOver) return
      isOver = true
      clearTimeout(timer)
      const restMs =
        usage.isOverdrawn(caller) && usage.hasOthers(caller) ? REST_FACTOR * (readBusyMs() - busyBefore) : 0
      if (restMs > 0) setTimeout(leave, restMs)
      else leave()
    }
    const timer = setTimeout(end, MAX_TURN_MS)
    const outgoing = (context.env as Partial<HttpBindings> | undefined)?.outgoing
    outgoing?.once('close', end)
    try {
      await next()
    } finally {
      if (!outgoing || outgoing.destroyed) end()
    }
  }

  return async function takeTurn(context, next) {
    if (inTurn.has(context.req.raw)) return next()
    inTurn.add(context.req.raw)
    const caller = await findCaller(context, tokens, sessionCookie)
    if (caller === undefined || caller === SERVICE_CALLER) return next()
    if (!hasBody(context)) return runInTurn(context, caller, next)
    const releaseBody = await enter(bodies, caller)
    holdBody(releaseBody)
    try {
      await runInTurn(context, caller, next)
    } finally {
      releaseBody()
    }
  }
}
