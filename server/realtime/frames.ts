/** Phoenix messages in realtime-js's serialisers: 1.0.0 has JSON objects; 2.0.0 has JSON arrays and binary frames. */
import { z } from 'zod'
import { jsonExcess } from '#server/base/json.ts'
import { MAX_NAME_BYTES } from './limits.ts'

export type Vsn = '1.0.0' | '2.0.0'

export interface Incoming {
  readonly joinRef: string | null
  readonly ref: string | null
  readonly topic: string
  readonly event: string
  readonly payload: unknown
  /** Set for a raw broadcast. */
  readonly bytes?: Buffer
}

export interface Outgoing {
  readonly joinRef?: string | null
  readonly ref?: string | null
  readonly topic: string
  readonly event: string
  /** JSON text, so that PostgreSQL's own rendering is sent unchanged. */
  readonly payload: string
}

export type BroadcastBody = { readonly json: string } | { readonly bytes: Buffer }

const USER_BROADCAST_PUSH = 3
const USER_BROADCAST = 4
const RAW = 0
const JSON_ENCODED = 1

const ref = z
  .union([z.string(), z.number().transform(String)])
  .nullish()
  .transform((value) => value ?? null)
const objectFrame = z.object({
  topic: z.string(),
  event: z.string(),
  payload: z.unknown().optional(),
  ref,
  join_ref: ref,
})
const arrayFrame = z.tuple([ref, ref, z.string(), z.string(), z.unknown()])
const metadata = z.record(z.string(), z.unknown())

function readJson(data: Buffer): unknown {
  const text = data.toString('utf8')
  const parsed: unknown = JSON.parse(text)
  const excess = jsonExcess(text)
  if (excess !== undefined) throw new Error(`a frame that ${excess}`)
  return parsed
}

/** @throws for a frame that does not follow the protocol. */
export function decodeFrame(vsn: Vsn, data: Buffer, isBinary: boolean): Incoming {
  if (isBinary) return decodeBroadcastPush(data)
  const parsed = readJson(data)
  if (vsn === '2.0.0') {
    const [joinRef, messageRef, topic, event, payload] = arrayFrame.parse(parsed)
    return { joinRef, ref: messageRef, topic, event, payload }
  }
  const { topic, event, payload, ref: messageRef, join_ref: joinRef } = objectFrame.parse(parsed)
  return { joinRef, ref: messageRef, topic, event, payload }
}

/** Layout: 3, five lengths, encoding; then join_ref, ref, topic, event, metadata and payload. */
function decodeBroadcastPush(frame: Buffer): Incoming {
  const [kind, ...header] = frame.subarray(0, 7)
  const encoding = header.pop()
  if (kind !== USER_BROADCAST_PUSH || header.length !== 5) throw new Error('a binary frame of an unknown kind')
  let offset = 7
  const texts = header.map((length) => {
    offset += length
    return frame.toString('utf8', offset - length, offset)
  })
  if (offset > frame.length) throw new Error('a binary frame that ends too early')
  const [joinRef = '', messageRef = '', topic = '', event = '', meta = ''] = texts
  const body = frame.subarray(offset)
  const payload = {
    ...(meta === '' ? {} : metadata.parse(readJson(Buffer.from(meta)))),
    type: 'broadcast',
    event,
    ...(encoding === JSON_ENCODED ? { payload: readJson(body) } : {}),
  }
  return {
    joinRef: joinRef || null,
    ref: messageRef || null,
    topic,
    event: 'broadcast',
    payload,
    ...(encoding === JSON_ENCODED ? {} : { bytes: Buffer.from(body) }),
  }
}

export function encodeFrame(
  vsn: Vsn,
  { joinRef = null, ref: messageRef = null, topic, event, payload }: Outgoing,
): string {
  const [quotedTopic, quotedEvent] = [JSON.stringify(topic), JSON.stringify(event)]
  const [quotedJoinRef, quotedRef] = [JSON.stringify(joinRef), JSON.stringify(messageRef)]
  return vsn === '2.0.0'
    ? `[${quotedJoinRef},${quotedRef},${quotedTopic},${quotedEvent},${payload}]`
    : `{"topic":${quotedTopic},"event":${quotedEvent},"payload":${payload},"ref":${quotedRef},"join_ref":${quotedJoinRef}}`
}

/** Layout: 4, three lengths, encoding; topic, event, metadata, payload. Text frame if a name exceeds a length byte. */
export function encodeBroadcast(topic: string, event: string, meta: string, body: BroadcastBody): Buffer | string {
  const names = [topic, event, meta].map((text) => Buffer.from(text, 'utf8'))
  if (names.some(({ length }) => length > MAX_NAME_BYTES)) {
    if ('bytes' in body) throw new Error('the names of a raw broadcast are too long for its frame')
    return encodeFrame('2.0.0', { topic, event: 'broadcast', payload: broadcastPayload(event, meta, body.json) })
  }
  const isJson = 'json' in body
  const header = Buffer.from([USER_BROADCAST, ...names.map(({ length }) => length), isJson ? JSON_ENCODED : RAW])
  return Buffer.concat([header, ...names, isJson ? Buffer.from(body.json, 'utf8') : body.bytes])
}

/** `meta` is JSON, or empty. */
export const broadcastPayload = (event: string, meta: string, json: string): string =>
  `{"type":"broadcast","event":${JSON.stringify(event)},"payload":${json}${meta === '' ? '' : `,"meta":${meta}`}}`
