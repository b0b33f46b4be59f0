/** Handles client messages: joins, leaves, broadcasts, presence and fresh tokens. */
import { WebSocket } from 'ws'
import { z } from 'zod'
import { type TokenVerifier } from '#server/access/tokens.ts'
import { AppError } from '#server/base/errors.ts'
import { type Log } from '#server/base/log.ts'
import { toAppError } from '#server/database/errors.ts'
import { type Database } from '#server/database/scope.ts'
import { expiryText, probeTopicPermissions, usableToken, verifyToken } from './authorize.ts'
import { type Backpressure } from './backpressure.ts'
import { type Broadcasts } from './broadcast.ts'
import { type Catalogue } from './catalogue.ts'
import { createChannelCloser } from './channel-closer.ts'
import { type Channel, type Channels, type Connection, subscriberKey } from './channels.ts'
import { type Incoming } from './frames.ts'
import { createJoin } from './join.ts'
import { PRESENCE_WINDOW_MS, type RealtimeLimits } from './limits.ts'
import { type Presences } from './presence.ts'
import { Rejection } from './rejection.ts'
import { type Sender } from './sender.ts'

const TOO_MANY_MESSAGES = 'Too many messages per second'

const tokenPayload = z.object({ access_token: z.string().nullish() })
const broadcastPush = z.object({ event: z.string(), payload: z.unknown().optional() })
const presencePush = z.object({ event: z.string(), payload: z.unknown().optional() })
const trackedMeta = z.record(z.string(), z.unknown())

export interface ProtocolOptions {
  readonly database: Database
  readonly tokens: TokenVerifier
  readonly log: Log
  readonly limits: RealtimeLimits
  readonly catalogue: Catalogue
  readonly channels: Channels
  readonly sender: Sender
  readonly broadcasts: Broadcasts
  readonly presences: Presences
  readonly backpressure: Backpressure
}

export interface Protocol {
  /** Handles a message after all earlier ones of the socket. */
  receive(connection: Connection, message: Incoming): Promise<void>
  /** Closes the channels whose token has expired. */
  closeExpired(connection: Connection, now: number): void
  /** Closes the channels of a session that was signed out. */
  closeSession(connection: Connection, sessionId: string): void
  /** Removes all channels of a closed socket. */
  removeChannels(connection: Connection): void
}

export function createProtocol(options: ProtocolOptions): Protocol {
  const { database, tokens, log, limits, channels, sender, broadcasts, presences, backpressure } = options
  const { remove, closeWith } = createChannelCloser({ channels, sender, presences })
  const join = createJoin({ ...options, remove })

  async function receive(connection: Connection, message: Incoming): Promise<void> {
    if (message.topic === 'phoenix' && message.event === 'heartbeat') return sender.reply(connection, message, 'ok', {})
    if (exceedsMessageRate(connection, message)) return
    connection.pendingWork = connection.pendingWork
      .then(() => handleMessage(connection, message))
      .catch((thrown: unknown) => {
        const error = toAppError(thrown)
        // PostgreSQL cannot store some names and payloads, such as ones with a NUL character.
        const isOfTheClient = error instanceof AppError && error.code === 'bad_request'
        log[isOfTheClient ? 'debug' : 'error']({ err: thrown, event: message.event }, 'a message could not be handled')
        const reason = isOfTheClient ? `InvalidMessage: ${error.message}` : 'UnknownError: Something went wrong'
        sender.reply(connection, message, 'error', { reason })
      })
    return connection.pendingWork
  }

  function exceedsMessageRate(connection: Connection, message: Incoming): boolean {
    const second = Math.floor(Date.now() / 1000)
    if (connection.second !== second) Object.assign(connection, { second, events: 0, joins: 0 })
    if (message.event === 'phx_join') {
      connection.joins += 1
      if (connection.joins <= limits.joinsPerSecond) return false
      sender.reply(connection, message, 'error', { reason: 'ClientJoinRateLimitReached: Too many joins per second' })
      return true
    }
    connection.events += 1
    if (connection.events <= limits.eventsPerSecond || message.event === 'phx_leave') return false
    const channel = connection.channels.get(message.topic)
    if (channel) closeWith(channel, TOO_MANY_MESSAGES)
    return true
  }

  /** Every presence call is written and sent to a complete room, so its limit is lower. */
  function exceedsPresenceRate(channel: Channel): boolean {
    const now = Date.now()
    const recent = channel.presenceCalls.filter((at) => at > now - PRESENCE_WINDOW_MS)
    channel.presenceCalls = [...recent, now]
    if (recent.length < limits.presenceCalls) return false
    closeWith(channel, TOO_MANY_MESSAGES)
    return true
  }

  async function handleMessage(connection: Connection, message: Incoming): Promise<void> {
    if (connection.ws.readyState !== WebSocket.OPEN) return
    if (message.event === 'phx_join') return join(connection, message)
    const channel = connection.channels.get(message.topic)
    if (message.event === 'phx_leave') return leave(connection, message, channel)
    if (!channel) return sender.reply(connection, message, 'error', { reason: 'unmatched topic' })
    if (message.event === 'broadcast') return broadcast(channel, message)
    if (message.event === 'presence') return changePresence(channel, message)
    if (message.event === 'access_token') return renewToken(channel, message)
    sender.reply(connection, message, 'error', { reason: 'unmatched event' })
  }

  function leave(connection: Connection, message: Incoming, channel: Channel | undefined): void {
    // A late leave of an earlier join must not end the current one.
    const isPresent = channel && (message.joinRef === null || message.joinRef === channel.joinRef)
    if (isPresent) remove(channel)
    sender.reply(connection, message, 'ok', {})
    if (isPresent) sender.sendClose(channel)
  }

  async function broadcast(channel: Channel, message: Incoming): Promise<void> {
    const push = broadcastPush.safeParse(message.payload)
    if (!push.success) return sender.reply(channel.connection, message, 'error', { reason: 'Broadcast needs an event' })
    // The protocol drops a broadcast without permission silently.
    if (!channel.permissions.broadcast.write) return
    const { event, payload } = push.data
    const body = message.bytes ? { bytes: message.bytes } : { json: JSON.stringify(payload ?? {}) }
    const bytes = 'json' in body ? body.json.length : body.bytes.length
    if (bytes > limits.payloadBytes) {
      return sender.reply(channel.connection, message, 'error', { reason: 'Payload size exceeds the limit' })
    }
    const { name: topic, isPrivate, id: from } = channel
    const release = backpressure.addUnhandled(channel.connection, bytes)
    const published = broadcasts.publish({ topic, event, isPrivate, body, from }).then(
      () => channel.wantsAck && sender.reply(channel.connection, message, 'ok', {}),
      (error: unknown) => {
        log.warn({ err: error }, 'a broadcast could not be sent')
        if (channel.wantsAck)
          sender.reply(channel.connection, message, 'error', { reason: 'Broadcast could not be sent' })
      },
    )
    void published.finally(release)
  }

  async function changePresence(channel: Channel, message: Incoming): Promise<void> {
    if (exceedsPresenceRate(channel)) return
    const push = presencePush.safeParse(message.payload)
    const event = push.success ? push.data.event.toLowerCase() : ''
    const answer = (status: 'ok' | 'error', response: unknown) =>
      sender.reply(channel.connection, message, status, response)
    if (event === 'untrack') {
      await presences.untrack(channel)
      return answer('ok', {})
    }
    if (event !== 'track') return answer('error', { reason: 'Unknown presence event' })
    const meta = trackedMeta.safeParse(push.data?.payload ?? {})
    if (!meta.success) return answer('error', { reason: 'Presence track payload must be a map' })
    if (Buffer.byteLength(JSON.stringify(meta.data)) > limits.presenceBytes)
      return answer('error', { reason: 'Payload size exceeds the limit' })
    if (!channel.permissions.presence.write) {
      return answer('error', { reason: `You do not have permissions to write to this Channel topic: ${channel.name}` })
    }
    await presences.track(channel, meta.data)
    // The channel may have closed during the write.
    if (channel.isOpen) answer('ok', {})
    else await presences.untrack(channel)
  }

  async function renewToken(channel: Channel, message: Incoming): Promise<void> {
    const payload = tokenPayload.safeParse(message.payload)
    const token = usableToken(payload.data?.access_token)
    if (token === undefined || token === channel.token) return
    try {
      const claims = await verifyToken(tokens, token)
      if (channel.isPrivate) channel.permissions = await probeTopicPermissions(database, claims, channel.name)
      Object.assign(channel, { token, claims, subscriber: subscriberKey(claims) })
    } catch (error) {
      if (!(error instanceof Rejection)) throw error
      return closeWith(channel, error.message)
    }
    if (!channel.permissions.broadcast.read && !channel.permissions.presence.read) {
      closeWith(channel, `You no longer have permission to read from this Channel topic: ${channel.name}`)
    }
  }

  return {
    receive,
    closeExpired(connection, now) {
      for (const channel of [...connection.channels.values()]) {
        if (channel.claims.exp * 1000 <= now) closeWith(channel, expiryText(channel.claims.exp))
      }
    },
    closeSession(connection, sessionId) {
      for (const channel of [...connection.channels.values()]) {
        if (channel.claims.session_id === sessionId) closeWith(channel, 'The session has ended')
      }
    },
    removeChannels(connection) {
      for (const channel of [...connection.channels.values()]) remove(channel)
    },
  }
}
