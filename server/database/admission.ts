/** Admits callers to a pool of connections: each holds at most a share of them, and callers who wait take turns. */
import { AppError } from '#server/base/errors.ts'
import { currentCaller } from '#server/base/caller.ts'
import type { CallerUsage } from './caller-usage.ts'
import type { Claims } from './scope.ts'

export interface AdmissionLimits {
  /** Connections that all callers together may hold. */
  readonly places: number
  readonly placesPerCaller: number
  readonly waitingPerCaller?: number
  readonly waitLimitMs?: number
}

/** Programs of the operator, which may serve many people with one key: they are never slowed down. */
const SERVICE_CALLER = 'service_role'

/** Undefined without a lasting account: an address can open any number of anonymous ones. */
export const lastingAccountOf = ({
  sub,
  is_anonymous: isAnonymous,
}: Pick<Claims, 'sub'> & { readonly is_anonymous?: unknown }): string | undefined =>
  isAnonymous === true ? undefined : sub

/** Undefined where the address counts. */
export const callerOf = (claims: Claims): string | undefined =>
  claims.role === 'service_role' ? SERVICE_CALLER : lastingAccountOf(claims)

/** Holder of a connection that works with these claims. */
export const connectionCaller = (claims: Claims): string => callerOf(claims) ?? currentCaller() ?? claims.role

/** The caller had too many requests, or waited too long: services name the time after which to try again. */
export const isRefusedTurn = (thrown: unknown): thrown is AppError & { details: { retryAfterS: number } } =>
  thrown instanceof AppError && typeof thrown.details?.['retryAfterS'] === 'number'

export interface Admission {
  /** Undefined: admitted at once. Then call `leave` once. @throws AppError `rate_limited`, `unavailable` */
  enter(caller: string): Promise<void> | undefined
  leave(caller: string): void
}

interface Share {
  readonly caller: string
  running: number
  /** Admits each, in the order in which they came. */
  readonly waiting: Set<() => void>
}

const MAX_WAITING_PER_CALLER = 250
const WAIT_LIMIT_MS = 10_000
const RETRY_AFTER_S = 1

export function createAdmission(
  { places, placesPerCaller, waitingPerCaller = MAX_WAITING_PER_CALLER, waitLimitMs = WAIT_LIMIT_MS }: AdmissionLimits,
  usage: CallerUsage,
): Admission {
  const shares = new Map<string, Share>()
  /** Shares in which callers wait, in the order of their turns. */
  const turns = new Set<Share>()
  let running = 0

  function shareOf(caller: string): Share {
    const share = shares.get(caller) ?? { caller, running: 0, waiting: new Set() }
    shares.set(caller, share)
    return share
  }

  /** One statement at a time costs others little: a caller who is slowed down never stops. */
  function isFull({ caller, running: own }: Share): boolean {
    if (own === 0) return false
    if (own >= placesPerCaller) return true
    return caller !== SERVICE_CALLER && usage.isOverdrawn(caller) && usage.hasOthers(caller)
  }

  function start(share: Share): void {
    share.running += 1
    running += 1
    usage.begin(share.caller)
  }

  function waitForTurn(share: Share): Promise<void> {
    if (share.waiting.size >= waitingPerCaller) {
      throw new AppError('rate_limited', 'Too many of your requests wait for the database. Send fewer at a time.', {
        details: { retryAfterS: RETRY_AFTER_S },
      })
    }
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        stopWaiting(share, admit)
        const message = `The request waited ${waitLimitMs / 1000} s for its turn at the database. Send fewer at a time.`
        reject(new AppError('unavailable', message, { details: { retryAfterS: RETRY_AFTER_S } }))
      }, waitLimitMs)
      const admit = () => {
        clearTimeout(timer)
        resolve()
      }
      share.waiting.add(admit)
      turns.add(share)
    })
  }

  function stopWaiting(share: Share, admit: () => void): void {
    share.waiting.delete(admit)
    if (share.waiting.size === 0) turns.delete(share)
    forgetIdle(share)
  }

  function forgetIdle({ caller, running: own, waiting }: Share): void {
    if (own === 0 && waiting.size === 0) shares.delete(caller)
  }

  function admitWaiting(): void {
    for (const share of turns) {
      if (running >= places) return
      const [admit] = share.waiting
      if (admit === undefined || isFull(share)) continue
      start(share)
      stopWaiting(share, admit)
      // The next turn of this caller comes after everybody else's; this loop reaches it again.
      if (turns.delete(share)) turns.add(share)
      admit()
    }
  }

  return {
    enter(caller) {
      const share = shareOf(caller)
      if (share.waiting.size === 0 && running < places && !isFull(share)) {
        start(share)
        return undefined
      }
      const turn = waitForTurn(share)
      admitWaiting()
      return turn
    },
    leave(caller) {
      const share = shareOf(caller)
      share.running -= 1
      running -= 1
      usage.end(caller)
      forgetIdle(share)
      if (turns.size > 0) admitWaiting()
    },
  }
}
