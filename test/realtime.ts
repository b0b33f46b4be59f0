/** Realtime nodes on a test database, and the official client as an external program uses it. */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { serve } from '@hono/node-server'
import { REALTIME_SUBSCRIBE_STATES, type RealtimeChannel, RealtimeClient } from '@supabase/realtime-js'
import { Hono } from 'hono'
import { onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { z } from 'zod'
import { loadSecretsFromFolder } from '#server/access/secrets.ts'
import { createTokens, type Tokens } from '#server/access/tokens.ts'
import { createLog, type Log } from '#server/base/log.ts'
import type { Claims } from '#server/database/scope.ts'
import { openListener } from '#server/database/listen.ts'
import type { RealtimeLimits } from '#server/realtime/limits.ts'
import { createRealtime, type Realtime } from '#server/realtime/service.ts'
import type { TestDatabase } from './database.ts'

export async function createTestTokens(): Promise<Tokens> {
  const folder = await mkdtemp(path.join(tmpdir(), 'alcove-secrets-'))
  try {
    return await createTokens(await loadSecretsFromFolder(folder))
  } finally {
    await rm(folder, { recursive: true })
  }
}

export function tokenOf(tokens: Tokens, { sub, ...claims }: Claims, { lifetimeS = 3600 } = {}): Promise<string> {
  const now = Math.floor(Date.now() / 1000)
  const subject = sub === undefined ? {} : { sub }
  return tokens.sign({ ...claims, ...subject, session_id: randomUUID(), iat: now, exp: now + lifetimeS })
}

export interface RealtimeNode {
  readonly realtime: Realtime
  readonly port: number
  close(): Promise<void>
}

export async function startNode(
  { database, background, batchReader, connection, openBus }: TestDatabase,
  tokens: Tokens,
  {
    log = createLog('silent'),
    ...options
  }: {
    log?: Log
    limits?: Partial<RealtimeLimits>
    trustProxy?: number
    databaseSweepMs?: number
    allowsPublicChannels?: boolean
  } = {},
): Promise<RealtimeNode> {
  const notified = await openListener(connection, log)
  const bus = await openBus()
  const listener = bus?.combineWith(notified) ?? notified
  const realtime = await createRealtime({ database, background, batchReader, listener, tokens, log, ...options })
  const app = new Hono().route('/realtime/v1', realtime.routes)
  const server = await new Promise<Server>((resolve, reject) => {
    const started = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, () => {
      if ('closeIdleConnections' in started) resolve(started)
      else reject(new Error('not a plain HTTP server'))
    })
  })
  server.on('upgrade', realtime.handleUpgrade)
  const address = server.address()
  return {
    realtime,
    port: isAddress(address) ? address.port : 0,
    async close() {
      await realtime.close()
      await notified.close()
      await bus?.close()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const isAddress = (address: unknown): address is AddressInfo =>
  typeof address === 'object' && address !== null && 'port' in address

export interface ClientOptions {
  readonly apikey: string
  readonly token?: string
  readonly vsn?: '1.0.0' | '2.0.0'
}

export async function openClient(
  { port }: RealtimeNode,
  { apikey, token, vsn = '2.0.0' }: ClientOptions,
): Promise<RealtimeClient> {
  const client = new RealtimeClient(`ws://127.0.0.1:${port}/realtime/v1`, {
    params: { apikey },
    vsn,
    ...(token === undefined ? {} : { accessToken: () => Promise.resolve(token) }),
    reconnectAfterMs: () => 20,
  })
  // Without it the first join is sent before the callback answers, without the token.
  if (token !== undefined) await client.setAuth()
  return client
}

/** Values in order of arrival, each awaited once. */
export interface Recorder<Value> {
  add(value: Value): void
  next(): Promise<Value>
  readonly waiting: readonly Value[]
}

export function createRecorder<Value>(): Recorder<Value> {
  const waiting: Value[] = []
  const readers: ((value: Value) => void)[] = []
  return {
    waiting,
    add(value) {
      const reader = readers.shift()
      if (reader) reader(value)
      else waiting.push(value)
    },
    async next() {
      const value = waiting.shift()
      return value === undefined ? new Promise((resolve) => readers.push(resolve)) : value
    },
  }
}

const frame = z.tuple([z.string().nullable(), z.string().nullable(), z.string(), z.string(), z.looseObject({})])
export type Frame = z.output<typeof frame>

/** Opens a socket without the client library, for messages that the library cannot send; closed with the test. */
export async function openRawSocket({ port }: RealtimeNode, apikey: string, headers: Record<string, string> = {}) {
  const ws = new WebSocket(`ws://127.0.0.1:${port}/realtime/v1/websocket?apikey=${apikey}&vsn=2.0.0`, { headers })
  const frames = createRecorder<Frame>()
  ws.on('message', (data: Buffer, isBinary) => {
    if (!isBinary) frames.add(frame.parse(JSON.parse(data.toString())))
  })
  await once(ws, 'open')
  onTestFinished(() => ws.terminate())
  const say = (joinRef: string | null, ref: string, topic: string, event: string, payload: unknown = {}) =>
    ws.send(JSON.stringify([joinRef, ref, topic, event, payload]))
  return { ws, frames, say }
}

/** Rejects with the server's reason. */
export function subscribed(channel: RealtimeChannel): Promise<RealtimeChannel> {
  return new Promise((resolve, reject) => {
    channel.subscribe((status, error) => {
      if (status === REALTIME_SUBSCRIBE_STATES.SUBSCRIBED) resolve(channel)
      else reject(error ?? new Error(status))
    })
  })
}

/** Joins and waits for the message that database changes are live. */
export async function live(channel: RealtimeChannel): Promise<RealtimeChannel> {
  const isLive = new Promise<void>((resolve, reject) => {
    channel.on('system', {}, (payload: { status: string; message: string }) => {
      if (payload.status === 'ok') resolve()
      else reject(new Error(payload.message))
    })
  })
  const [joined] = await Promise.all([subscribed(channel), isLive])
  return joined
}
