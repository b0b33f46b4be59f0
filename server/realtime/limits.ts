/** Limits of sockets and of what each may send. */
export interface RealtimeLimits {
  /** Open sockets of one address on this node. */
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
  /** Unhandled bytes at which reading from a socket pauses. */
  readonly unhandledBytes: number
  /** A socket without any message, including heartbeats, is closed after this time. */
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

/** Names must fit a length byte of a binary frame, prefix included. */
export const MAX_NAME_BYTES = 255
