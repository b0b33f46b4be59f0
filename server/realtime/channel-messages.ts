import { z } from 'zod'
import { SPACE_TOPIC } from '#contract/space.ts'
import type { TokenVerifier } from '#server/access/tokens.ts'
import type { Log } from '#server/base/log.ts'
import type { Database } from '#server/database/scope.ts'
import { PRIVATE_ONLY, probeTopicPermissions, usableToken, verifyToken } from './authorize.ts'
import type { Backpressure } from './backpressure.ts'
import type { Broadcasts } from './broadcast.ts'
import { type Channel, subscriberKey } from './channels.ts'
import type { Incoming } from './frames.ts'
import { MAX_NAME_BYTES, PRESENCE_WINDOW_MS, type RealtimeLimits } from './limits.ts'
import type { Presences } from './presence.ts'
import { Rejection } from './rejection.ts'
import type { Sender } from './sender.ts'
import type { Cost, Traffic } from './traffic.ts'

export const TOO_MANY_MESSAGES = 'Too many messages per second'

const tokenPayload = z.object({ access_token: z.string().nullish() })
const broadcastPush = z.object({ event: z.string(), payload: z.unknown().optional() })
const presencePush = z.object({ event: z.string(), payload: z.unknown().optional() })
const trackedMeta = z.record(z.string(), z.unknown())

const isOfSpace = ({ isPrivate, name }: Channel): boolean => isPrivate && name.startsWith(SPACE_TOPIC)

interface ChannelMessageOptions {
  readonly database: Database
  readonly tokens: TokenVerifier
  readonly log: Log
  readonly limits: RealtimeLimits
  readonly sender: Sender
  readonly broadcasts: Broadcasts
  readonly presences: Presences
  readonly backpressure: Backpressure
  readonly traffic: Traffic
  readonly closeWith: (channel: Channel, text: string) => void
}

export function createChannelMessages(options: ChannelMessageOptions) {
  const { database, tokens, log, limits, sender, broadcasts, presences, backpressure, traffic, closeWith } = options

  /** Every presence call is written and sent to a complete room, so its limit is lower. */
  function exceedsPresenceRate(channel: Channel): boolean {
    const now = Date.now()
    const recent = channel.presenceCalls.filter((at) => at > now - PRESENCE_WINDOW_MS)
    channel.presenceCalls = [...recent, now]
    if (recent.length < limits.presenceCalls) return false
    closeWith(channel, TOO_MANY_MESSAGES)
    return true
  }

  /** Closes the channel and returns true beyond the budget of its address or person. */
  function exceedsBudget(channel: Channel, cost: Cost): boolean {
    const { connection, claims } = channel
    if (traffic.spend({ address: connection.address, claims }, cost)) return false
    closeWith(channel, TOO_MANY_MESSAGES)
    return true
  }

  async function broadcast(channel: Channel, message: Incoming): Promise<void> {
    const push = broadcastPush.safeParse(message.payload)
    if (!push.success) return sender.reply(channel.connection, message, 'error', { reason: 'Broadcast needs an event' })
    if (!channel.permissions.broadcast.write) {
      // The protocol drops a broadcast without permission silently, except where public channels are refused.
      if (!channel.isPrivate && channel.wantsAck)
        sender.reply(channel.connection, message, 'error', { reason: `PrivateOnly: ${PRIVATE_ONLY}` })
      return
    }
    const { event, payload } = push.data
    if (Buffer.byteLength(event) > MAX_NAME_BYTES)
      return sender.reply(channel.connection, message, 'error', { reason: 'The name of the event is too long' })
    const body = message.bytes ? { bytes: message.bytes } : { json: JSON.stringify(payload ?? {}) }
    const bytes = 'json' in body ? Buffer.byteLength(body.json) : body.bytes.length
    if (bytes > limits.payloadBytes) {
      return sender.reply(channel.connection, message, 'error', { reason: 'Payload size exceeds the limit' })
    }
    if (exceedsBudget(channel, { messages: 1, bytes })) return
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
      traffic.release(channel.connection.address, { presenceBytes: channel.presenceBytes })
      channel.presenceBytes = 0
      return answer('ok', {})
    }
    if (event !== 'track') return answer('error', { reason: 'Unknown presence event' })
    const given = trackedMeta.safeParse(push.data?.payload ?? {})
    if (!given.success) return answer('error', { reason: 'Presence track payload must be a map' })
    // Members of a space are shown as present, so none can be so for another.
    const meta = isOfSpace(channel) ? { ...given.data, user: channel.claims.sub } : given.data
    const bytes = Buffer.byteLength(JSON.stringify(meta))
    if (bytes > limits.presenceBytes) return answer('error', { reason: 'Payload size exceeds the limit' })
    if (!channel.permissions.presence.write) {
      return answer('error', { reason: `You do not have permissions to write to this Channel topic: ${channel.name}` })
    }
    if (exceedsBudget(channel, { messages: 1, bytes })) return
    if (!traffic.hold(channel.connection.address, { presenceBytes: bytes }))
      return answer('error', { reason: 'The presences of this address are too large' })
    traffic.release(channel.connection.address, { presenceBytes: channel.presenceBytes })
    channel.presenceBytes = bytes
    await presences.track(channel, meta)
    // The channel may have closed during the write.
    if (channel.isOpen) answer('ok', {})
  }

  async function renewToken(channel: Channel, message: Incoming): Promise<void> {
    const payload = tokenPayload.safeParse(message.payload)
    const token = usableToken(payload.data?.access_token)
    if (token === undefined || token === channel.token) return
    try {
      const claims = await verifyToken(tokens, token)
      if (exceedsBudget(channel, { joins: 1 })) return
      if (channel.isPrivate) channel.permissions = await probeTopicPermissions(database, claims, channel.name)
      Object.assign(channel, { token, claims, subscriber: subscriberKey(claims) })
    } catch (error) {
      if (!(error instanceof Rejection)) throw error
      return closeWith(channel, error.message)
    }
    if (channel.isPrivate && !channel.permissions.broadcast.read && !channel.permissions.presence.read) {
      closeWith(channel, `You no longer have permission to read from this Channel topic: ${channel.name}`)
    }
  }

  return { broadcast, changePresence, renewToken }
}
