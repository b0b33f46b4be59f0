/** Admits callers to something scarce: each holds at most a share of its places, and callers who wait take turns. */
import { AppError } from '#server/base/errors.ts'
import { currentCaller } from '#server/base/caller.ts'
import type { CallerUsage } from './caller-usage.ts'
import type { Claims } from './scope.ts'

export interface AdmissionLimits {
  /** Places (connections of a pool) that all callers together may hold. */
  readonly places: number
  readonly placesPerCaller: number
  readonly waitingPerCaller?: number
  readonly waitLimitMs?: number
  /** Names the scarce thing in the error of a caller who waits too long. */
  readonly waitsFor?: string
}

/** Programs of the operator, which may serve many people with one key: they are never slowed down. */
export const SERVICE_CALLER = 'service_role'

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

/** The caller had too many requests, waited too long, or lost rights meanwhile: services name the time after which to try again. */
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
/** Times as much as a person. */
const SERVICE_FACTOR = 2
/** Part of the places, at most these, that is left to callers who hold none. */
const RESERVED_SHARE = 1 / 6
const MAX_RESERVED_PLACES = 2

/** @param usage slows down callers who used much; undefined: the limits alone count. */
export function createAdmission(
  {
    places,
    placesPerCaller,
    waitingPerCaller = MAX_WAITING_PER_CALLER,
    waitLimitMs = WAIT_LIMIT_MS,
    waitsFor = 'the database',
  }: AdmissionLimits,
  usage?: CallerUsage,
): Admission {
  const shares = new Map<string, Share>()
  /** Shares that hold places. */
  const holders = new Set<Share>()
  /** Shares in which callers wait, in the order of their turns. */
  const turns = new Set<Share>()
  let running = 0

  function shareOf(caller: string): Share {
    const share = shares.get(caller) ?? { caller, running: 0, waiting: new Set() }
    shares.set(caller, share)
    return share
  }

  const reservedPlaces = Math.min(MAX_RESERVED_PLACES, Math.floor(places * RESERVED_SHARE))
  const placesOfSlowed = Math.max(1, Math.floor(places / 2))
  const placesOfService = Math.max(placesPerCaller, Math.min(places - 1, SERVICE_FACTOR * placesPerCaller))

  function isSlowed({ caller }: Share): boolean {
    return usage !== undefined && caller !== SERVICE_CALLER && usage.isOverdrawn(caller) && usage.hasOthers(caller)
  }

  function countSlowedPlaces(): number {
    let held = 0
    for (const share of holders) if (isSlowed(share)) held += share.running
    return held
  }

  /** Slowed callers hold one place each, and half of all together: a few accounts of one person do not fill them. */
  function isFull(share: Share): boolean {
    if (isSlowed(share))
      return share.running > 0 || (placesOfSlowed < Infinity && countSlowedPlaces() >= placesOfSlowed)
    if (share.running === 0) return false
    const most = share.caller === SERVICE_CALLER ? placesOfService : placesPerCaller
    return share.running >= most || places - running <= reservedPlaces
  }

  function start(share: Share): void {
    share.running += 1
    holders.add(share)
    running += 1
    usage?.begin(share.caller)
  }

  function waitForTurn(share: Share): Promise<void> {
    const mostWaiting = share.caller === SERVICE_CALLER ? SERVICE_FACTOR * waitingPerCaller : waitingPerCaller
    if (share.waiting.size >= mostWaiting) {
      throw new AppError('rate_limited', `Too many of your requests wait for ${waitsFor}. Send fewer at a time.`, {
        details: { retryAfterS: RETRY_AFTER_S },
      })
    }
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        stopWaiting(share, admit)
        const message = `The request waited ${waitLimitMs / 1000} s for ${waitsFor}. Send fewer at a time.`
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

  function forgetIdle(share: Share): void {
    if (share.running > 0) return
    holders.delete(share)
    if (share.waiting.size === 0) shares.delete(share.caller)
  }

  function admitWaiting(): void {
    admitTurns(false)
    admitTurns(true)
  }

  /** Slowed callers come after all others. */
  function admitTurns(areSlowed: boolean): void {
    for (const share of turns) {
      if (running >= places) return
      const [admit] = share.waiting
      if (admit === undefined || isSlowed(share) !== areSlowed || isFull(share)) continue
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
      usage?.end(caller)
      forgetIdle(share)
      if (turns.size > 0) admitWaiting()
    },
  }
}
