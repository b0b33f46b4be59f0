import { randomUUID } from 'node:crypto'
import { WebSocket } from 'ws'
import { z } from 'zod'
import type { TokenVerifier, VerifiedClaims } from '#server/access/tokens.ts'
import { startTimeSlices } from '#server/base/time-slices.ts'
import type { Database } from '#server/database/scope.ts'
import {
  CHANGES_ONLY,
  PRIVATE_ONLY,
  probeTopicPermissions,
  PUBLIC_TOPIC,
  type TopicPermissions,
  usableToken,
  verifyToken,
} from './authorize.ts'
import { checkBinding, requestedBindingSchema, UNSUBSCRIBABLE } from './bindings.ts'
import type { Catalogue } from './catalogue.ts'
import {
  type Binding,
  type Channel,
  type Channels,
  type Connection,
  personOf,
  roomName,
  subscriberKey,
} from './channels.ts'
import type { FilterCounts } from './filter-counts.ts'
import type { FilterWork } from './filter-work.ts'
import type { Incoming } from './frames.ts'
import { MAX_NAME_BYTES, type RealtimeLimits } from './limits.ts'
import type { Presences } from './presence.ts'
import { Rejection } from './rejection.ts'
import type { Sender } from './sender.ts'
import type { Traffic } from './traffic.ts'

const TOPIC_PREFIX = 'realtime:'
const MAX_PRESENCE_KEY_BYTES = 255
const MAX_BINDINGS_CHARACTERS = 128 * 1024

/** Some client libraries send flags as text. */
const flagSchema = z
  .union([z.boolean(), z.literal('true').transform(() => true), z.literal('false').transform(() => false)])
  .nullish()
  .transform((value) => value ?? false)
const joinPayloadSchema = z.object({
  access_token: z.string().nullish(),
  config: z
    .object({
      broadcast: z.object({ ack: flagSchema, self: flagSchema, replication_ready: flagSchema }).nullish(),
      presence: z
        .object({
          key: z
            .string()
            .refine((key) => Buffer.byteLength(key) <= MAX_PRESENCE_KEY_BYTES, 'The presence key is too long')
            .nullish(),
          enabled: flagSchema,
        })
        .nullish(),
      postgres_changes: z.array(z.record(z.string(), z.unknown())).nullish(),
      postgres_changes_options: z.object({ wait: flagSchema }).nullish(),
      private: flagSchema,
    })
    .nullish(),
})
type JoinPayload = z.output<typeof joinPayloadSchema>

interface JoinOptions {
  readonly database: Database
  readonly tokens: TokenVerifier
  readonly limits: RealtimeLimits
  readonly catalogue: Catalogue
  readonly channels: Channels
  readonly filterCounts: FilterCounts
  readonly filterWork: FilterWork
  readonly sender: Sender
  readonly presences: Presences
  readonly traffic: Traffic
  readonly allowsPublicChannels: boolean
  readonly remove: (channel: Channel) => void
}

export function createJoin(options: JoinOptions) {
  const { database, tokens, limits, catalogue, channels, filterCounts, filterWork } = options
  const { sender, presences, traffic, remove } = options
  let lastBindingId = 0

  async function join(connection: Connection, message: Incoming): Promise<void> {
    try {
      const payload = joinPayloadSchema.safeParse(message.payload ?? {})
      if (!payload.success) throw new Rejection('InvalidJoinPayload', z.prettifyError(payload.error))
      const name = topicName(connection, message.topic)
      const token = usableToken(payload.data.access_token) ?? connection.apiKey
      const claims = await verifyToken(tokens, token)
      if (!traffic.spend({ address: connection.address, claims }, { joins: 1 }))
        throw new Rejection('ClientJoinRateLimitReached', 'Too many joins per second')
      const permissions = await permissionsFor(claims, name, payload.data)
      const channel = createChannel(connection, message, { name, token, claims, permissions, payload: payload.data })
      await activate(channel, message, payload.data)
    } catch (error) {
      if (!(error instanceof Rejection)) throw error
      sender.reply(connection, message, 'error', { reason: error.reason })
    }
  }

  function topicName(connection: Connection, topic: string): string {
    if (!topic.startsWith(TOPIC_PREFIX)) throw new Rejection('UnmatchedTopic', 'unmatched topic')
    if (topic.length === TOPIC_PREFIX.length) throw new Rejection('TopicNameRequired', 'You must provide a topic name')
    if (Buffer.byteLength(topic) > MAX_NAME_BYTES) throw new Rejection('TopicNameTooLong', 'The topic name is too long')
    if (connection.channels.size >= limits.channelsPerSocket && !connection.channels.has(topic)) {
      throw new Rejection('ChannelRateLimitReached', 'Too many channels')
    }
    return topic.slice(TOPIC_PREFIX.length)
  }

  async function permissionsFor(
    claims: VerifiedClaims,
    name: string,
    { config }: JoinPayload,
  ): Promise<TopicPermissions> {
    if (!config?.private) {
      if (options.allowsPublicChannels) return PUBLIC_TOPIC
      // Policies decide about rows on any channel, so one that asks for changes only is no public room.
      if (config?.presence?.enabled || !config?.postgres_changes?.length)
        throw new Rejection('PrivateOnly', PRIVATE_ONLY)
      return CHANGES_ONLY
    }
    const permissions = await probeTopicPermissions(database, claims, name)
    if (permissions.broadcast.read || permissions.presence.read) return permissions
    throw new Rejection('Unauthorized', `You do not have permissions to read from this Channel topic: ${name}`)
  }

  /** Ends an earlier join of the topic on the socket. */
  async function activate(channel: Channel, message: Incoming, { config }: JoinPayload): Promise<void> {
    const { connection } = channel
    const requested = config?.postgres_changes ?? []
    const subscribed = await subscribe(channel, requested)
    if (subscribed instanceof Rejection && config?.postgres_changes_options?.wait) throw subscribed
    if (connection.ws.readyState !== WebSocket.OPEN) return
    const previous = connection.channels.get(channel.topic)
    if (previous) {
      remove(previous)
      sender.sendClose(previous)
    }
    if (!traffic.hold(connection.address, { channels: 1, bindings: channel.bindings.length }))
      throw new Rejection('ChannelRateLimitReached', 'Too many channels from this address')
    connection.channels.set(channel.topic, channel)
    channels.add(channel)
    filterCounts.add(channel)
    const ids = channel.bindings.map(({ id }) => id)
    sender.reply(connection, message, 'ok', {
      // realtime-js compares each binding with the one it sent.
      postgres_changes: requested.map((binding, index) => ({ ...binding, id: ids[index] ?? nextId() })),
    })
    if (channel.wantsPresence) presences.watch(channel)
    if (config?.broadcast?.replication_ready) {
      sender.system(channel, { extension: 'system', status: 'ok', message: 'Replication connection established' })
    }
    if (requested.length === 0) return
    sender.system(
      channel,
      subscribed instanceof Rejection
        ? { extension: 'postgres_changes', status: 'error', message: subscribed.message }
        : { extension: 'postgres_changes', status: 'ok', message: 'Subscribed to PostgreSQL' },
    )
  }

  const nextId = () => (lastBindingId += 1)

  /** Returns the reason if no binding is set. */
  async function subscribe(channel: Channel, requested: readonly unknown[]): Promise<Rejection | undefined> {
    try {
      channel.bindings = await checkBindings(channel, requested)
    } catch (refused) {
      if (!(refused instanceof Rejection)) throw refused
      // A notification of a recent schema change may still be on its way.
      await catalogue.refresh()
      try {
        channel.bindings = await checkBindings(channel, requested)
      } catch (error) {
        if (error instanceof Rejection) return error
        throw error
      }
    }
    return undefined
  }

  async function checkBindings(channel: Channel, requested: readonly unknown[]): Promise<Binding[]> {
    if (requested.length > limits.bindingsPerChannel)
      throw new Rejection(UNSUBSCRIBABLE, 'Too many bindings for one channel')
    if (JSON.stringify(requested).length > MAX_BINDINGS_CHARACTERS)
      throw new Rejection(UNSUBSCRIBABLE, 'The bindings of the channel are too large')
    const slices = startTimeSlices()
    const bindings: Binding[] = []
    for (const one of requested) {
      const parsed = requestedBindingSchema.safeParse(one)
      if (!parsed.success) throw new Rejection(UNSUBSCRIBABLE, z.prettifyError(parsed.error))
      const checked = await checkBinding(catalogue, parsed.data, channel.claims.role, () =>
        filterWork.startChange().startFilter(personOf(channel)),
      )
      bindings.push({ ...checked, id: nextId(), channel })
      if (slices.isOver) await slices.next()
    }
    const excess = filterCounts.excess(channel, bindings)
    if (excess !== undefined) throw new Rejection(UNSUBSCRIBABLE, excess)
    return bindings
  }

  return join
}

interface NewChannel {
  readonly name: string
  readonly token: string
  readonly claims: VerifiedClaims
  readonly permissions: TopicPermissions
  readonly payload: JoinPayload
}

function createChannel(connection: Connection, { topic, joinRef, ref }: Incoming, created: NewChannel): Channel {
  const { name, token, claims, permissions, payload } = created
  const { broadcast, presence, private: isPrivate = false } = payload.config ?? {}
  return {
    id: randomUUID(),
    connection,
    topic,
    name,
    room: roomName(name, isPrivate),
    // Optional in 1.0.0; the default is the ref of the join.
    joinRef: joinRef ?? ref,
    isPrivate,
    receivesOwn: broadcast?.self ?? false,
    wantsAck: broadcast?.ack ?? false,
    presenceKey: presence?.key == null || presence.key === '' ? randomUUID() : presence.key,
    wantsPresence: presence?.enabled ?? false,
    token,
    claims,
    subscriber: subscriberKey(claims),
    permissions,
    bindings: [],
    presenceCalls: [],
    presenceBytes: 0,
    isOpen: true,
  }
}
