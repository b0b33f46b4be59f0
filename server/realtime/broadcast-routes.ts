/** `POST /api/broadcast`: sends one or many messages to a topic without joining it. */
import { type Context, Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { z } from 'zod'
import { tokenOrApiKeyOf } from '#server/access/authenticate.ts'
import type { TokenVerifier, VerifiedClaims } from '#server/access/tokens.ts'
import { allowAnyOrigin } from '#server/base/any-origin.ts'
import { messageOf } from '#server/base/errors.ts'
import { type Log, logFailedRequest } from '#server/base/log.ts'
import type { Database } from '#server/database/scope.ts'
import { probeTopicPermissions, verifyToken } from './authorize.ts'
import type { Broadcast, Broadcasts } from './broadcast.ts'
import type { RealtimeLimits } from './limits.ts'
import { Rejection } from './rejection.ts'

const batch = z.object({
  messages: z.array(
    z.object({
      topic: z.string().min(1, "can't be blank"),
      event: z.string().min(1, "can't be blank"),
      payload: z.record(z.string(), z.unknown()),
      private: z.boolean().nullish(),
    }),
  ),
})

export interface BroadcastRouteOptions {
  readonly database: Database
  readonly tokens: TokenVerifier
  readonly log: Log
  readonly broadcasts: Broadcasts
  readonly limits: RealtimeLimits
}

export function createBroadcastRoutes({ database, tokens, log, broadcasts, limits }: BroadcastRouteOptions): Hono {
  const app = new Hono()
  app.use(
    allowAnyOrigin({
      allowMethods: ['POST', 'OPTIONS'],
      allowHeaders: ['authorization', 'apikey', 'content-type', 'x-client-info'],
    }),
  )
  app.use(
    bodyLimit({
      maxSize: limits.payloadBytes,
      // The rest of the body stays unread, so the connection cannot serve another request.
      onError: (context) => context.json({ error: 'Payload size exceeds the limit' }, 413, { connection: 'close' }),
    }),
  )
  app.onError((error, context) => {
    if (error instanceof Rejection) return context.json({ error: error.message }, 401)
    logFailedRequest(log, { err: error, path: context.req.path }, 'a broadcast over REST failed')
    return context.json({ error: 'Internal server error' }, 500)
  })

  async function verifyCaller(context: Context): Promise<VerifiedClaims> {
    const token = tokenOrApiKeyOf(context)
    if (token === undefined) throw new Rejection('Unauthorized', 'Unauthorized')
    return verifyToken(tokens, token)
  }

  /** Silently drops what the policies forbid, as on a channel. */
  async function publishAllowed(claims: VerifiedClaims, messages: readonly Broadcast[]): Promise<void> {
    const mayWrite = new Map<string, boolean>()
    for (const { topic, isPrivate } of messages) {
      if (!isPrivate || mayWrite.has(topic)) continue
      mayWrite.set(
        topic,
        claims.role === 'service_role' || (await probeTopicPermissions(database, claims, topic)).broadcast.write,
      )
    }
    await Promise.all(
      messages
        .filter(({ isPrivate, topic }) => !isPrivate || mayWrite.get(topic))
        .map((message) => broadcasts.publish(message)),
    )
  }

  app.post('/api/broadcast', async (context) => {
    const claims = await verifyCaller(context)
    const parsed = batch.safeParse(await readJson(context))
    if (!parsed.success) return context.json({ errors: z.treeifyError(parsed.error) }, 422)
    await publishAllowed(
      claims,
      parsed.data.messages.map(({ topic, event, payload, private: isPrivate }) => {
        return { topic, event, isPrivate: isPrivate ?? false, body: { json: JSON.stringify(payload) } }
      }),
    )
    return context.body(null, 202)
  })

  app.post('/api/broadcast/:topic/events/:event', async (context) => {
    const claims = await verifyCaller(context)
    const { topic, event } = context.req.param()
    const isRaw = (context.req.header('content-type') ?? '').startsWith('application/octet-stream')
    const json = isRaw ? undefined : await readJson(context)
    if (!isRaw && json === undefined) return context.json({ errors: { payload: ["can't be blank"] } }, 422)
    const body = isRaw ? { bytes: Buffer.from(await context.req.arrayBuffer()) } : { json: JSON.stringify(json) }
    await publishAllowed(claims, [{ topic, event, isPrivate: context.req.query('private') === 'true', body }])
    return context.body(null, 202)
  })

  async function readJson(context: Context): Promise<unknown> {
    try {
      return await context.req.json<unknown>()
    } catch (error) {
      log.debug({ reason: messageOf(error) }, 'a broadcast whose body is no JSON')
      return undefined
    }
  }

  return app
}
