/** Closes private channels of people who may no longer read them, as soon as the database says that rights have changed. */
import { z } from 'zod'
import type { TokenVerifier } from '#server/access/tokens.ts'
import { parseJson } from '#server/base/json.ts'
import type { Log } from '#server/base/log.ts'
import { createSemaphore } from '#server/base/semaphore.ts'
import type { Database } from '#server/database/scope.ts'
import { probeTopicPermissions, type TopicPermissions, verifyToken } from './authorize.ts'
import type { Channel } from './channels.ts'
import { Rejection } from './rejection.ts'

/** Sent by the function `announce_access_change`: whose rights, or the rights to what topic, may have changed. */
const accessChange = z.object({ person: z.uuid().nullable(), topic: z.string().nullable() })
export type AccessChange = z.output<typeof accessChange>

export const parseAccessChange = (payload: string): AccessChange => accessChange.parse(parseJson(payload))

/** Each is a transaction. A change may concern everybody in a room. */
const MAX_CONCURRENT_CHECKS = 8

export const ACCESS_LOST = 'You may no longer read this channel'

/** One for all changes, which may arrive in numbers. */
const limitChecks = createSemaphore(MAX_CONCURRENT_CHECKS)

interface AccessCheckOptions {
  readonly database: Database
  readonly log: Log
  readonly close: (channel: Channel, reason: string) => void
}

interface TokenCheckOptions {
  readonly tokens: TokenVerifier
  readonly log: Log
  readonly close: AccessCheckOptions['close']
}

/**
 * Closes channels, public ones too, whose session has ended or whose token no longer counts. A check that fails closes
 * them: the client may join again.
 */
export async function checkTokens(
  channels: readonly Channel[],
  { tokens, log, close }: TokenCheckOptions,
): Promise<void> {
  const check = async (token: string, ofToken: readonly Channel[]) => {
    try {
      await verifyToken(tokens, token)
    } catch (error) {
      if (!(error instanceof Rejection))
        log.warn({ err: error }, 'the session of a channel could not be read, it was closed')
      const reason = error instanceof Rejection ? error.message : ACCESS_LOST
      for (const channel of ofToken) if (channel.token === token) close(channel, reason)
    }
  }
  const groups = Map.groupBy(channels, ({ token }) => token)
  await Promise.all([...groups].map(([token, ofToken]) => limitChecks(() => check(token, ofToken))))
}

export const isConcerned = ({ isPrivate, name, claims }: Channel, { person, topic }: AccessChange): boolean =>
  isPrivate && (topic === null || name === topic) && (person === null || claims.sub === person)

/** Channels of one person and topic are checked once. A check that fails closes them: the client may join again. */
export async function checkAccess(
  channels: readonly Channel[],
  { database, log, close }: AccessCheckOptions,
): Promise<void> {
  const groups = Map.groupBy(channels, ({ subscriber, name }) => JSON.stringify([subscriber, name]))
  const check = async (group: readonly Channel[]) => {
    for (let unchecked = group; unchecked[0];) {
      const [{ claims, name, subscriber }] = unchecked
      const permissions = await probeTopicPermissions(database, claims, name).catch((error: unknown) => {
        log.warn({ err: error }, 'the rights to a channel could not be read, it was closed')
        return undefined
      })
      // A channel that renewed its token meanwhile is checked with that one.
      const renewed = unchecked.filter((channel) => channel.subscriber !== subscriber)
      for (const channel of unchecked) if (channel.subscriber === subscriber) apply(channel, permissions, close)
      unchecked = renewed
    }
  }
  await Promise.all([...groups.values()].map((group) => limitChecks(() => check(group))))
}

function apply(channel: Channel, permissions: TopicPermissions | undefined, close: AccessCheckOptions['close']): void {
  if (permissions?.broadcast.read === true || permissions?.presence.read === true) channel.permissions = permissions
  else close(channel, ACCESS_LOST)
}
