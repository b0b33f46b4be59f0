/** Who has joined what on this node: sockets, their channels, the rooms that channels of one topic share. */
import { type WebSocket } from 'ws'
import { type VerifiedClaims } from '#server/access/tokens.ts'
import { type Filter } from '#server/database/filter.ts'
import { type TopicPermissions } from './authorize.ts'
import { type Vsn } from './frames.ts'

export type ChangeOperation = 'INSERT' | 'UPDATE' | 'DELETE'

/** One entry of a channel's `postgres_changes`. */
export interface Binding {
  readonly id: number
  readonly channel: Channel
  readonly event: ChangeOperation | '*'
  readonly schema: string
  /** Undefined: every published table of the schema. */
  readonly table: string | undefined
  readonly filters: readonly Filter[]
  /** The same as the client wrote them. */
  readonly filterText: string
  readonly select: ReadonlySet<string> | undefined
}

export interface Channel {
  readonly id: string
  readonly connection: Connection
  /** As on the wire, with its prefix. */
  readonly topic: string
  readonly name: string
  /** Public and private channels of one name are separate rooms. */
  readonly room: string
  readonly joinRef: string | null
  readonly isPrivate: boolean
  readonly receivesOwn: boolean
  readonly wantsAck: boolean
  readonly presenceKey: string
  readonly wantsPresence: boolean
  token: string
  claims: VerifiedClaims
  /** Whose queries see the same as this channel's. */
  subscriber: string
  permissions: TopicPermissions
  bindings: readonly Binding[]
  /** When its latest presence calls came. */
  presenceCalls: readonly number[]
  isOpen: boolean
}

export interface Connection {
  readonly ws: WebSocket
  readonly vsn: Vsn
  /** What a channel joins with that brings no token of its own. */
  readonly apiKey: string
  readonly channels: Map<string, Channel>
  lastReceivedAt: number
  /** The messages that are being handled: each waits for the one before. */
  pendingWork: Promise<void>
  /** How much of what was said is not dealt with yet. */
  unhandledBytes: number
  /** What was asked in the running second. */
  second: number
  events: number
  joins: number
}

export const roomName = (name: string, isPrivate: boolean): string => `${isPrivate ? 'private' : 'public'}:${name}`

/** Those whose queries see the same: same role, same claims but for the times of the token. */
export function subscriberKey({ exp: _exp, iat: _iat, ...claims }: VerifiedClaims): string {
  return JSON.stringify(claims)
}

const ANY_NAME = '*'
const tableKey = (schema: string, table: string) => JSON.stringify([schema, table])

export interface Channels {
  readonly size: number
  readonly bindingCount: number
  add(channel: Channel): void
  remove(channel: Channel): void
  members(room: string): ReadonlySet<Channel>
  /** Everything that may want a change of this table, whoever it belongs to. */
  bindingsOf(schema: string, table: string): Iterable<Binding>
}

export function createChannels(): Channels {
  const rooms = new Map<string, Set<Channel>>()
  const byTable = new Map<string, Set<Binding>>()
  const noChannels: ReadonlySet<Channel> = new Set()
  let size = 0
  let bindingCount = 0

  const keyOf = ({ schema, table = ANY_NAME }: Binding) => tableKey(schema, table)

  return {
    get size() {
      return size
    },
    get bindingCount() {
      return bindingCount
    },
    add(channel) {
      addTo(rooms, channel.room, channel)
      for (const binding of channel.bindings) addTo(byTable, keyOf(binding), binding)
      size += 1
      bindingCount += channel.bindings.length
    },
    remove(channel) {
      if (!rooms.get(channel.room)?.has(channel)) return
      removeFrom(rooms, channel.room, channel)
      for (const binding of channel.bindings) removeFrom(byTable, keyOf(binding), binding)
      size -= 1
      bindingCount -= channel.bindings.length
    },
    members: (room) => rooms.get(room) ?? noChannels,
    *bindingsOf(schema, table) {
      for (const key of [tableKey(schema, table), tableKey(schema, ANY_NAME), tableKey(ANY_NAME, ANY_NAME)]) {
        yield* byTable.get(key) ?? []
      }
    },
  }
}

function addTo<Value>(sets: Map<string, Set<Value>>, key: string, value: Value): void {
  const existing = sets.get(key)
  if (existing) existing.add(value)
  else sets.set(key, new Set([value]))
}

function removeFrom<Value>(sets: Map<string, Set<Value>>, key: string, value: Value): void {
  const existing = sets.get(key)
  existing?.delete(value)
  if (existing?.size === 0) sets.delete(key)
}
