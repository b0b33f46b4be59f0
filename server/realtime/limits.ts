/** What one socket may ask of the service, and how many there may be. */
export interface RealtimeLimits {
  /** Open at once from one address, on this node. */
  readonly socketsPerAddress: number
  readonly channelsPerSocket: number
  readonly joinsPerSecond: number
  readonly eventsPerSecond: number
  /** Of one channel, in half a minute. */
  readonly presenceCalls: number
  readonly bindingsPerChannel: number
  /** Of one broadcast. */
  readonly payloadBytes: number
  /** Of one presence, which is kept, and told to whoever joins. */
  readonly presenceBytes: number
  readonly frameBytes: number
  /** What may wait for a slow reader before its socket is cut off. */
  readonly bufferedBytes: number
  /** What a socket may have said that is not dealt with yet, before it is not read from for a while. */
  readonly unhandledBytes: number
  /** A socket that says nothing for so long, not even a heartbeat, is dropped. */
  readonly idleTimeoutMs: number
}

const KIB = 1024
const MIB = 1024 * KIB

export const DEFAULT_LIMITS: RealtimeLimits = {
  // An office behind one address, with several pages each.
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

/** The span that `presenceCalls` counts over. */
export const PRESENCE_WINDOW_MS = 30_000

/** The longest name whose length fits into one byte of a binary frame, prefix included. */
export const MAX_NAME_BYTES = 255
