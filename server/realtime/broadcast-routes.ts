/** `POST /api/broadcast`: sends one or many messages to a topic without joining it. */
import { type Context, Hono, type MiddlewareHandler } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { z } from 'zod'
import { tokenOrApiKeyOf } from '#server/access/authenticate.ts'
import { visitorKeyOf } from '#server/access/client-address.ts'
import type { TokenVerifier, VerifiedClaims } from '#server/access/tokens.ts'
import { allowAnyOrigin } from '#server/base/any-origin.ts'
import { messageOf } from '#server/base/errors.ts'
import { jsonExcess } from '#server/base/json.ts'
import { type Log, logFailedRequest } from '#server/base/log.ts'
import { isRefusedTurn } from '#server/database/admission.ts'
import type { Database } from '#server/database/scope.ts'
import { PRIVATE_ONLY, verifyToken, writableTopics } from './authorize.ts'
import type { Broadcast, Broadcasts } from './broadcast.ts'
import type { BroadcastBody } from './frames.ts'
import { MAX_NAME_BYTES, type RealtimeLimits } from './limits.ts'
import { Rejection } from './rejection.ts'
import type { Traffic } from './traffic.ts'

const name = (prefix: string) =>
  z
    .string()
    .min(1, "can't be blank")
    .refine((text) => Buffer.byteLength(prefix + text) <= MAX_NAME_BYTES, 'is too long')
const topicSchema = name('realtime:')
const eventSchema = name('')
const batch = z.object({
  messages: z.array(
    z.object({
      topic: topicSchema,
      event: eventSchema,
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
  readonly traffic: Traffic
  readonly trustProxy: number
  readonly allowsPublicChannels: boolean
  /** Limits the requests of each caller; undefined: does not. */
  readonly takeTurn?: MiddlewareHandler | undefined
}

export function createBroadcastRoutes(options: BroadcastRouteOptions): Hono {
  const { database, tokens, log, broadcasts, limits, traffic } = options
  const app = new Hono()
  app.use(
    allowAnyOrigin({
      allowMethods: ['POST', 'OPTIONS'],
      allowHeaders: ['authorization', 'apikey', 'content-type', 'x-client-info'],
    }),
  )
  if (options.takeTurn) app.use(options.takeTurn)
  app.use(
    bodyLimit({
      maxSize: limits.payloadBytes,
      // The rest of the body stays unread, so the connection cannot serve another request.
      onError: (context) => context.json({ error: 'Payload size exceeds the limit' }, 413, { connection: 'close' }),
    }),
  )
  app.onError((error, context) => {
    if (error instanceof Rejection) return context.json({ error: error.message }, 401)
    if (isRefusedTurn(error)) {
      context.header('retry-after', String(error.details.retryAfterS))
      return context.json({ error: error.message }, error.code === 'rate_limited' ? 429 : 503)
    }
    logFailedRequest(log, { err: error, path: context.req.path }, 'a broadcast over REST failed')
    return context.json({ error: 'Internal server error' }, 500)
  })

  function requireToken(context: Context): string {
    const token = tokenOrApiKeyOf(context)
    if (token === undefined) throw new Rejection('Unauthorized', 'Unauthorized')
    return token
  }

  /** Silently drops what the policies forbid, as on a channel. */
  async function publishAllowed(claims: VerifiedClaims, messages: readonly Broadcast[]): Promise<void> {
    const topics = privateTopicsOf(messages)
    const isService = claims.role === 'service_role'
    const mayWrite = isService || topics.size === 0 ? topics : await writableTopics(database, claims, [...topics])
    await Promise.all(
      messages
        .filter(({ isPrivate, topic }) => !isPrivate || mayWrite.has(topic))
        .map((message) => broadcasts.publish(message)),
    )
  }

  /** The answer to a request that asks for too much; undefined for one that is served. */
  function reject(context: Context, claims: VerifiedClaims, messages: readonly Broadcast[]): Response | undefined {
    const { messagesPerRequest, privateTopicsPerRequest } = limits
    const unprocessable = (error: string) => context.json({ errors: { messages: [error] } }, 422)
    const topics = privateTopicsOf(messages).size
    if (!options.allowsPublicChannels && messages.some(({ isPrivate }) => !isPrivate))
      return unprocessable(PRIVATE_ONLY)
    if (messages.length > messagesPerRequest)
      return unprocessable(`Send at most ${messagesPerRequest} messages at a time`)
    if (topics > privateTopicsPerRequest && claims.role !== 'service_role')
      return unprocessable(`Send to at most ${privateTopicsPerRequest} private topics at a time`)
    const address = visitorKeyOf(context, options.trustProxy)
    const bytes = messages.reduce((sum, { body }) => sum + byteLengthOf(body), 0)
    const cost = { messages: Math.max(1, messages.length), bytes, ...(topics > 0 ? { joins: 1 + topics / 10 } : {}) }
    if (traffic.spend({ address, claims }, cost)) return undefined
    return context.json({ error: 'Too many requests' }, 429, { 'retry-after': '1' })
  }

  async function publishUnlessRejected(
    context: Context,
    claims: VerifiedClaims,
    messages: readonly Broadcast[],
  ): Promise<Response> {
    const rejected = reject(context, claims, messages)
    if (rejected) return rejected
    await publishAllowed(claims, messages)
    return context.body(null, 202)
  }

  // Bodies are received before the token is checked: a session may end while its client sends slowly.
  app.post('/api/broadcast', async (context) => {
    const token = requireToken(context)
    const parsed = batch.safeParse(await readJson(context))
    const claims = await verifyToken(tokens, token)
    if (!parsed.success) return context.json({ errors: z.treeifyError(parsed.error) }, 422)
    return publishUnlessRejected(
      context,
      claims,
      parsed.data.messages.map(({ topic, event, payload, private: isPrivate }) => {
        return { topic, event, isPrivate: isPrivate ?? false, body: { json: JSON.stringify(payload) } }
      }),
    )
  })

  app.post('/api/broadcast/:topic/events/:event', async (context) => {
    const { topic, event } = context.req.param()
    const names = z.object({ topic: topicSchema, event: eventSchema }).safeParse({ topic, event })
    if (!names.success) return context.json({ errors: z.treeifyError(names.error) }, 422)
    const token = requireToken(context)
    const isRaw = (context.req.header('content-type') ?? '').startsWith('application/octet-stream')
    const json = isRaw ? undefined : await readJson(context)
    if (!isRaw && json === undefined) return context.json({ errors: { payload: ["can't be blank"] } }, 422)
    const body = isRaw ? { bytes: Buffer.from(await context.req.arrayBuffer()) } : { json: JSON.stringify(json) }
    const claims = await verifyToken(tokens, token)
    const isPrivate = context.req.query('private') === 'true'
    return publishUnlessRejected(context, claims, [{ topic, event, isPrivate, body }])
  })

  async function readJson(context: Context): Promise<unknown> {
    try {
      const text = await context.req.text()
      const parsed: unknown = JSON.parse(text)
      const excess = jsonExcess(text)
      if (excess !== undefined) throw new Error(`a body that ${excess}`)
      return parsed
    } catch (error) {
      log.debug({ reason: messageOf(error) }, 'a broadcast whose body cannot be sent on as JSON')
      return undefined
    }
  }

  return app
}

const privateTopicsOf = (messages: readonly Broadcast[]): ReadonlySet<string> =>
  new Set(messages.filter(({ isPrivate }) => isPrivate).map(({ topic }) => topic))

const byteLengthOf = (body: BroadcastBody): number =>
  'json' in body ? Buffer.byteLength(body.json) : body.bytes.length
