/** Limits of one address, the network around it, and one signed-in person on this node, over all sockets and requests. */
import { WIDER_FACTOR, widerKey } from '#server/access/client-address.ts'
import type { VerifiedClaims } from '#server/access/tokens.ts'
import type { Rate, TrafficLimits } from './limits.ts'

export interface Caller {
  readonly address: string
  readonly claims: VerifiedClaims
}

export interface Cost {
  readonly messages?: number
  readonly bytes?: number
  /** Each is a transaction that evaluates policies. */
  readonly joins?: number
}

/** Counted on the node until it is released. */
export interface Holding {
  readonly channels: number
  readonly bindings: number
  readonly presenceBytes: number
}

export interface Traffic {
  /** Takes from all budgets, or from none and returns false. `service_role` has no budget. */
  spend(caller: Caller, cost: Cost): boolean
  /** Whether the address may hold as much more; counts it then. */
  hold(address: string, more: Partial<Holding>): boolean
  release(address: string, less: Partial<Holding>): void
  /** Forgets full budgets, which limit nothing. */
  sweep(): void
}

type Budget = TrafficLimits['perAddress']
interface Level {
  readonly budget: Budget
  readonly spent: Record<keyof Budget, number>
  at: number
}

const KINDS = ['messages', 'bytes', 'joins'] as const
const NOTHING: Holding = { channels: 0, bindings: 0, presenceBytes: 0 }

const scaleRate = ({ perSecond, burst }: Rate, factor: number): Rate => ({
  perSecond: perSecond * factor,
  burst: burst * factor,
})

const scaleBudget = ({ messages, bytes, joins }: Budget, factor: number): Budget => ({
  messages: scaleRate(messages, factor),
  bytes: scaleRate(bytes, factor),
  joins: scaleRate(joins, factor),
})

/** An address, and the network around it whose limits are larger. */
function ownersOf(address: string): { readonly key: string; readonly factor: number }[] {
  const network = widerKey(address)
  const own = { key: address, factor: 1 }
  return network === undefined ? [own] : [own, { key: network, factor: WIDER_FACTOR }]
}

export function createTraffic(limits: TrafficLimits): Traffic {
  const levels = new Map<string, Level>()
  const holdings = new Map<string, Holding>()

  function levelOf(key: string, budget: Budget): Level {
    const now = Date.now()
    const level = levels.get(key) ?? { budget, spent: { messages: 0, bytes: 0, joins: 0 }, at: now }
    const seconds = Math.max(0, now - level.at) / 1000
    for (const kind of KINDS) level.spent[kind] = Math.max(0, level.spent[kind] - seconds * budget[kind].perSecond)
    level.at = now
    levels.set(key, level)
    return level
  }

  const wider = scaleBudget(limits.perAddress, WIDER_FACTOR)

  function add(address: string, { channels = 0, bindings = 0, presenceBytes = 0 }: Partial<Holding>, sign: 1 | -1) {
    const held = holdings.get(address) ?? NOTHING
    return {
      channels: held.channels + sign * channels,
      bindings: held.bindings + sign * bindings,
      presenceBytes: held.presenceBytes + sign * presenceBytes,
    }
  }

  return {
    spend({ address, claims }, cost) {
      if (claims.role === 'service_role') return true
      const concerned = ownersOf(address).map(({ key, factor }) =>
        levelOf(`address ${key}`, factor === 1 ? limits.perAddress : wider),
      )
      if (claims.sub !== undefined) concerned.push(levelOf(`person ${claims.sub}`, limits.perPerson))
      const fits = concerned.every(({ budget, spent }) =>
        KINDS.every((kind) => spent[kind] + (cost[kind] ?? 0) <= budget[kind].burst || cost[kind] === undefined),
      )
      if (fits) for (const { spent } of concerned) for (const kind of KINDS) spent[kind] += cost[kind] ?? 0
      return fits
    },
    hold(address, more) {
      const held = ownersOf(address).map((owner) => ({ ...owner, held: add(owner.key, more, 1) }))
      const { channels, bindings, presenceBytes } = limits.heldPerAddress
      const isTooMuch = held.some(
        ({ factor, held: all }) =>
          all.channels > factor * channels ||
          all.bindings > factor * bindings ||
          all.presenceBytes > factor * presenceBytes,
      )
      if (isTooMuch) return false
      for (const { key, held: all } of held) holdings.set(key, all)
      return true
    },
    release(address, less) {
      for (const { key } of ownersOf(address)) {
        const held = add(key, less, -1)
        if (held.channels + held.bindings + held.presenceBytes > 0) holdings.set(key, held)
        else holdings.delete(key)
      }
    },
    sweep() {
      for (const [key, { budget }] of levels) {
        const { spent } = levelOf(key, budget)
        if (KINDS.every((kind) => spent[kind] === 0)) levels.delete(key)
      }
    },
  }
}
