/** Bounds the answers that wait in memory because their clients do not read them. Streams wait for their clients anyway. */
import { ServerResponse } from 'node:http'
import type { HttpBindings } from '@hono/node-server'
import type { MiddlewareHandler } from 'hono'
import { AppError } from '#server/base/errors.ts'
import { type CallerSession, currentCaller, currentSession } from '#server/base/caller.ts'
import { SERVICE_CALLER } from '#server/database/admission.ts'
import type { AccessWatch } from './access-watch.ts'

export interface UnsentLimits {
  /** A caller with more gets no further answers until it has read some. */
  readonly bytesPerCaller: number
  /** Beyond twice that, or beyond this over all callers, connections are closed. */
  readonly bytes: number
  /** A connection that takes no byte of an answer for so long is closed. */
  readonly stalledMs: number
}

const LIMITS: UnsentLimits = { bytesPerCaller: 96 * 1024 * 1024, bytes: 512 * 1024 * 1024, stalledMs: 60_000 }
/** The buffers of the system take smaller answers. */
const UNCOUNTED_BYTES = 64 * 1024
const RETRY_AFTER_S = 5

export interface UnsentAnswers {
  readonly limit: MiddlewareHandler
  /** @throws AppError `rate_limited` */
  readonly requireRoom: (caller: string | undefined) => void
  readonly bytes: () => number
}

/** A waiting answer may hold what its person may no longer read: after a change of their rights, they can ask again. */
const isStillAllowed = (): Promise<boolean> => Promise.resolve(false)

/** @param accessWatch breaks waiting answers off when their session ends, and when rights of their person change */
export function createUnsentAnswers(
  limits: Partial<UnsentLimits> = {},
  accessWatch?: Pick<AccessWatch, 'watch'>,
): UnsentAnswers {
  const { bytesPerCaller, bytes: maxBytes, stalledMs } = { ...LIMITS, ...limits }
  /** By caller, in the order in which they were written. */
  const held = new Map<string, Map<ServerResponse, number>>()

  const bytesOf = (caller: string) => sum(held.get(caller)?.values() ?? [])
  const totalBytes = () => sum([...held.keys()].map(bytesOf))

  function requireRoom(caller: string | undefined): void {
    if (caller === undefined || caller === SERVICE_CALLER || bytesOf(caller) <= bytesPerCaller) return
    throw new AppError('rate_limited', 'Large answers to you wait to be read. Read them, or close their connections, first.', {
      details: { retryAfterS: RETRY_AFTER_S },
    }) // prettier-ignore
  }

  function hold(outgoing: ServerResponse, caller: string, session: CallerSession | undefined): void {
    const bytes = outgoing.writableLength
    // Little of a stream, which has not ended, is in memory.
    if (bytes <= UNCOUNTED_BYTES || !outgoing.writableEnded || outgoing.destroyed) return
    const own = held.get(caller) ?? new Map<ServerResponse, number>()
    held.set(caller, own.set(outgoing, bytes))
    const onLost = () => void outgoing.destroy()
    const unwatch =
      session && accessWatch?.watch(session.person, { sessionId: session.sessionId, isAllowed: isStillAllowed, onLost })
    const release = () => {
      unwatch?.()
      own.delete(outgoing)
      if (own.size === 0 && held.get(caller) === own) held.delete(caller)
    }
    outgoing.once('finish', release)
    outgoing.once('close', release)
    // Counts from the last byte that the system took, also within one write.
    outgoing.setTimeout(stalledMs, () => outgoing.destroy())
    if (caller !== SERVICE_CALLER && own.size > 1 && bytesOf(caller) > 2 * bytesPerCaller) outgoing.destroy()
    closeOldest()
  }

  /** Closes those of the caller who holds most, so that other callers lose no answer. */
  function closeOldest(): void {
    while (totalBytes() > maxBytes) {
      const most = [...held.keys()].reduce((one, other) => (bytesOf(other) > bytesOf(one) ? other : one))
      const [oldest] = held.get(most)?.keys() ?? []
      if (!oldest) return
      held.get(most)?.delete(oldest)
      oldest.destroy()
    }
  }

  return {
    requireRoom,
    bytes: totalBytes,
    async limit({ env }, next) {
      requireRoom(currentCaller())
      await next()
      const { outgoing } = env as Partial<HttpBindings>
      const caller = currentCaller()
      // The body is written after all middleware.
      if (outgoing instanceof ServerResponse && caller !== undefined) {
        setImmediate(hold, outgoing, caller, currentSession())
      }
    },
  }
}

const sum = (values: Iterable<number>): number => Array.from(values).reduce((total, value) => total + value, 0)
