export interface RealtimeLimits {
  /** Per address, on this node. */
  readonly socketsPerAddress: number
  readonly channelsPerSocket: number
  readonly joinsPerSecond: number
  readonly eventsPerSecond: number
  /** Calls of one channel in `PRESENCE_WINDOW_MS`. */
  readonly presenceCalls: number
  readonly bindingsPerChannel: number
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
  // Enough for an office behind one address.
  socketsPerAddress: 2_000,
  channelsPerSocket: 100,
  joinsPerSecond: 100,
  eventsPerSecond: 100,
  presenceCalls: 5,
  bindingsPerChannel: 100,
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
