import { WebSocket } from 'ws'
import { SESSION_ENDED } from '#contract/auth.ts'
import type { TokenVerifier } from '#server/access/tokens.ts'
import { AppError } from '#server/base/errors.ts'
import type { Log } from '#server/base/log.ts'
import { isRefusedTurn } from '#server/database/admission.ts'
import { toAppError } from '#server/database/errors.ts'
import type { Database } from '#server/database/scope.ts'
import { checkAccess, checkTokens } from './access-changes.ts'
import { expiryText } from './authorize.ts'
import type { Backpressure } from './backpressure.ts'
import type { Broadcasts } from './broadcast.ts'
import type { Catalogue } from './catalogue.ts'
import { createChannelCloser } from './channel-closer.ts'
import { createChannelMessages, TOO_MANY_MESSAGES } from './channel-messages.ts'
import type { Channel, Channels, Connection } from './channels.ts'
import type { FilterCounts } from './filter-counts.ts'
import type { FilterWork } from './filter-work.ts'
import type { Incoming } from './frames.ts'
import { createJoin } from './join.ts'
import type { RealtimeLimits } from './limits.ts'
import type { Presences } from './presence.ts'
import type { Sender } from './sender.ts'
import type { Traffic } from './traffic.ts'

export interface ProtocolOptions {
  readonly database: Database
  readonly tokens: TokenVerifier
  readonly log: Log
  readonly limits: RealtimeLimits
  readonly catalogue: Catalogue
  readonly channels: Channels
  readonly filterCounts: FilterCounts
  readonly filterWork: FilterWork
  readonly sender: Sender
  readonly broadcasts: Broadcasts
  readonly presences: Presences
  readonly backpressure: Backpressure
  readonly traffic: Traffic
  readonly allowsPublicChannels: boolean
}

export interface Protocol {
  /** Handles a message after all earlier ones of the socket. */
  receive(connection: Connection, message: Incoming): Promise<void>
  closeExpired(connection: Connection, now: number): void
  closeSession(connection: Connection, sessionId: string): void
  removeChannels(connection: Connection): void
  /** Reads the rights to these private channels again, and closes those that may no longer be read. */
  recheckAccess(channels: readonly Channel[]): Promise<void>
  /** Reads their sessions again too: ends of sessions may have been missed. */
  recheckSessions(channels: readonly Channel[]): Promise<void>
}

export function createProtocol(options: ProtocolOptions): Protocol {
  const { log, limits, sender } = options
  const { remove, closeWith } = createChannelCloser(options)
  const join = createJoin({ ...options, remove })
  const { broadcast, changePresence, renewToken } = createChannelMessages({ ...options, closeWith })

  /** Ends of sessions, and changes of rights. */
  let ends = 0

  async function receive(connection: Connection, message: Incoming): Promise<void> {
    if (message.topic === 'phoenix' && message.event === 'heartbeat') return sender.reply(connection, message, 'ok', {})
    if (exceedsMessageRate(connection, message)) return
    connection.pendingWork = connection.pendingWork
      .then(() => handleMessage(connection, message))
      .catch((thrown: unknown) => {
        const error = toAppError(thrown)
        // PostgreSQL cannot store some names and payloads, such as ones with a NUL character.
        const isOfTheClient = error instanceof AppError && (error.code === 'bad_request' || isRefusedTurn(error))
        log[isOfTheClient ? 'debug' : 'error']({ err: thrown, event: message.event }, 'a message could not be handled')
        const kind = isRefusedTurn(error) ? 'TooManyRequests' : 'InvalidMessage'
        const reason = isOfTheClient ? `${kind}: ${error.message}` : 'UnknownError: Something went wrong'
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

  async function handleMessage(connection: Connection, message: Incoming): Promise<void> {
    if (connection.ws.readyState !== WebSocket.OPEN) return
    if (message.event === 'phx_join') return withRecheck(connection, message.topic, () => join(connection, message))
    const channel = connection.channels.get(message.topic)
    if (message.event === 'phx_leave') return leave(connection, message, channel)
    if (!channel) return sender.reply(connection, message, 'error', { reason: 'unmatched topic' })
    if (message.event === 'broadcast') return broadcast(channel, message)
    if (message.event === 'presence') return changePresence(channel, message)
    if (message.event === 'access_token')
      return withRecheck(connection, message.topic, () => renewToken(channel, message))
    sender.reply(connection, message, 'error', { reason: 'unmatched event' })
  }

  /** Rights and sessions that ended while a join or a new token was checked are read again. */
  async function withRecheck(connection: Connection, topic: string, change: () => Promise<void>): Promise<void> {
    const endsBefore = ends
    await change()
    const channel = connection.channels.get(topic)
    if (channel && ends !== endsBefore) await checkSessions([channel])
  }

  const checkRights = (channels: readonly Channel[]): Promise<void> =>
    checkAccess(channels, { database: options.database, log, close: closeWith })

  async function checkSessions(channels: readonly Channel[]): Promise<void> {
    await checkTokens(channels, { tokens: options.tokens, log, close: closeWith })
    await checkRights(channels.filter(({ isOpen, isPrivate }) => isOpen && isPrivate))
  }

  function leave(connection: Connection, message: Incoming, channel: Channel | undefined): void {
    // A late leave of an earlier join must not end the current one.
    const isPresent = channel && (message.joinRef === null || message.joinRef === channel.joinRef)
    if (isPresent) remove(channel)
    sender.reply(connection, message, 'ok', {})
    if (isPresent) sender.sendClose(channel)
  }

  return {
    receive,
    closeExpired(connection, now) {
      for (const channel of [...connection.channels.values()]) {
        if (channel.claims.exp * 1000 <= now) closeWith(channel, expiryText(channel.claims.exp))
      }
    },
    closeSession(connection, sessionId) {
      ends += 1
      for (const channel of [...connection.channels.values()]) {
        if (channel.claims.session_id === sessionId) closeWith(channel, SESSION_ENDED)
      }
    },
    recheckAccess(channels) {
      ends += 1
      return checkRights(channels)
    },
    recheckSessions(channels) {
      ends += 1
      return checkSessions(channels)
    },
    removeChannels(connection) {
      for (const channel of [...connection.channels.values()]) remove(channel)
    },
  }
}
