import type { WebSocket } from 'ws'
import type { VerifiedClaims } from '#server/access/tokens.ts'
import { lastingAccountOf } from '#server/database/admission.ts'
import type { Filter } from '#server/database/filter.ts'
import type { TopicPermissions } from './authorize.ts'
import type { Vsn } from './frames.ts'

export type ChangeOperation = 'INSERT' | 'UPDATE' | 'DELETE'

export interface Binding {
  readonly id: number
  readonly channel: Channel
  readonly event: ChangeOperation | '*'
  readonly schema: string
  /** Undefined: all published tables of the schema. */
  readonly table: string | undefined
  readonly filters: readonly Filter[]
  /** As the client wrote them. */
  readonly filterText: string
  readonly select: ReadonlySet<string> | undefined
  /** Equal for bindings that select equal columns. */
  readonly selectKey: string
}

export interface Channel {
  readonly id: string
  readonly connection: Connection
  /** With the wire prefix. */
  readonly topic: string
  readonly name: string
  /** Public and private channels of one name have separate rooms. */
  readonly room: string
  readonly joinRef: string | null
  readonly isPrivate: boolean
  readonly receivesOwn: boolean
  readonly wantsAck: boolean
  readonly presenceKey: string
  readonly wantsPresence: boolean
  token: string
  claims: VerifiedClaims
  /** Equal for channels whose queries see equal rows. */
  subscriber: string
  permissions: TopicPermissions
  bindings: readonly Binding[]
  /** Milliseconds since 1970. */
  presenceCalls: readonly number[]
  /** Size of the presence that it tracks. */
  presenceBytes: number
  isOpen: boolean
}

export interface Connection {
  readonly ws: WebSocket
  readonly vsn: Vsn
  /** Key of the client's address. */
  readonly address: string
  /** Used by channels that join without a token. */
  readonly apiKey: string
  readonly channels: Map<string, Channel>
  lastReceivedAt: number
  /** Resolves after the last message; they are handled one after the other. */
  pendingWork: Promise<void>
  unhandledBytes: number
  /** Second since 1970 that `events` and `joins` count in. */
  second: number
  events: number
  joins: number
}

export const roomName = (name: string, isPrivate: boolean): string => `${isPrivate ? 'private' : 'public'}:${name}`

/** Omits the times of the token. */
export function subscriberKey({ exp: _exp, iat: _iat, ...claims }: VerifiedClaims): string {
  return JSON.stringify(claims)
}

/** Limits count by lasting account, and by address for people without one. */
export const personOf = ({ claims, connection }: Identified): string => lastingAccountOf(claims) ?? connection.address

export interface Identified {
  readonly claims: Pick<VerifiedClaims, 'sub'> & { readonly is_anonymous?: unknown }
  readonly connection: Pick<Connection, 'address'>
}

const ANY_NAME = '*'
const tableKey = (schema: string, table: string) => JSON.stringify([schema, table])

export interface Channels {
  readonly size: number
  readonly bindingCount: number
  add(channel: Channel): void
  remove(channel: Channel): void
  members(room: string): ReadonlySet<Channel>
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
