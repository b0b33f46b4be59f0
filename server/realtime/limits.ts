export interface Rate {
  readonly perSecond: number
  /** At once after a pause. */
  readonly burst: number
}

export interface TrafficLimits {
  readonly perAddress: Readonly<Record<'messages' | 'bytes' | 'joins', Rate>>
  readonly perPerson: Readonly<Record<'messages' | 'bytes' | 'joins', Rate>>
  readonly heldPerAddress: { readonly channels: number; readonly bindings: number; readonly presenceBytes: number }
}

export interface RealtimeLimits {
  /** On this node, over all sockets and requests. */
  readonly traffic: TrafficLimits
  readonly messagesPerRequest: number
  /** Per request; one transaction evaluates their policies. */
  readonly privateTopicsPerRequest: number
  /** Per address, on this node. */
  readonly socketsPerAddress: number
  readonly channelsPerSocket: number
  readonly joinsPerSecond: number
  readonly eventsPerSecond: number
  /** Calls of one channel in `PRESENCE_WINDOW_MS`. */
  readonly presenceCalls: number
  readonly bindingsPerChannel: number
  /** Different filters of one socket, and of one account (or address without one) on this node. */
  readonly filtersPerSocket: number
  readonly filtersPerPerson: number
  /** In the steps of `Work`; of one account, or address without one. */
  readonly filterStepsPerChange: number
  readonly filterStepsPerSecond: number
  readonly payloadBytes: number
  readonly presenceBytes: number
  readonly frameBytes: number
  /** Unsent bytes at which the socket of a slow reader is closed. */
  readonly bufferedBytes: number
  /** Reading from a socket pauses at this number. */
  readonly unhandledBytes: number
  /** Any message resets it, including heartbeats. */
  readonly idleTimeoutMs: number
}

const KIB = 1024
const MIB = 1024 * KIB

export const DEFAULT_LIMITS: RealtimeLimits = {
  traffic: {
    // An office that reconnects at once stays below.
    perAddress: {
      messages: { perSecond: 1_000, burst: 4_000 },
      bytes: { perSecond: 8 * MIB, burst: 32 * MIB },
      joins: { perSecond: 200, burst: 4_000 },
    },
    perPerson: {
      messages: { perSecond: 200, burst: 1_000 },
      bytes: { perSecond: 2 * MIB, burst: 16 * MIB },
      joins: { perSecond: 50, burst: 500 },
    },
    heldPerAddress: { channels: 10_000, bindings: 20_000, presenceBytes: 8 * MIB },
  },
  messagesPerRequest: 1_000,
  privateTopicsPerRequest: 100,
  // Enough for an office behind one address.
  socketsPerAddress: 2_000,
  channelsPerSocket: 100,
  joinsPerSecond: 100,
  eventsPerSecond: 100,
  presenceCalls: 5,
  bindingsPerChannel: 100,
  filtersPerSocket: 1_000,
  filtersPerPerson: 2_000,
  // About 4 ms, and 1 % of a processor.
  filterStepsPerChange: 200_000,
  filterStepsPerSecond: 500_000,
  payloadBytes: 3 * MIB,
  presenceBytes: 64 * KIB,
  frameBytes: 5 * MIB,
  bufferedBytes: MIB,
  unhandledBytes: 5 * MIB,
  idleTimeoutMs: 60_000,
}

export const PRESENCE_WINDOW_MS = 30_000

/** Names, prefix included, must fit a length byte of a binary frame. */
export const MAX_NAME_BYTES = 255
