/** Opens a socket of `/realtime/v1` byte by byte and sends frames that follow the protocol, nearly follow it, or do not. */
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { Credentials } from './mutate.ts'
import type { Random } from './random.ts'
import { brokenText, damageBytes, hostileJson, hostileText, hostileValue } from './values.ts'

const TEXT = 1
const BINARY = 2
const CLOSE = 8
const PING = 9

interface FrameOptions {
  readonly opcode: number
  readonly isLast?: boolean
  readonly isMasked?: boolean
  /** Reserved bits, which need an extension that was not negotiated. */
  readonly reserved?: number
  readonly announcedLength?: number
}

/** RFC 6455, section 5.2. */
function frame(random: Random, payload: Buffer, options: FrameOptions): Buffer {
  const { opcode, isLast = true, isMasked = true, reserved = 0, announcedLength = payload.length } = options
  const first = (isLast ? 0x80 : 0) | (reserved << 4) | opcode
  const maskBit = isMasked ? 0x80 : 0
  let head: Buffer
  if (announcedLength < 126) head = Buffer.from([first, maskBit | announcedLength])
  else if (announcedLength < 65_536) head = Buffer.from([first, maskBit | 126, announcedLength >> 8, announcedLength & 255])
  else {
    head = Buffer.alloc(10)
    head.set([first, maskBit | 127])
    head.writeBigUInt64BE(BigInt(announcedLength), 2)
  } // prettier-ignore
  if (!isMasked) return Buffer.concat([head, payload])
  const mask = random.bytes(4)
  return Buffer.concat([head, mask, payload.map((byte, at) => byte ^ (mask[at % 4] ?? 0))])
}

const FILTERS = ['id=eq.1', 'title=match.a{0,240}b', 'title=in.(a,b)', 'nothing=eq.1', 'title=like.%', '', '=', 'position=gt.1e99', `title=in.(${'a,'.repeat(3_000)})`] // prettier-ignore

/** Parts of valid messages, in the order in which a client would use them. */
function joinPayload(random: Random, { attacker }: Credentials): Record<string, unknown> {
  const binding = () => ({
    event: random.pick(['*', 'INSERT', 'UPDATE', 'DELETE', 'NOTHING']),
    schema: random.pick(['public', 'public', 'auth', '*']),
    table: random.pick(['conversations', 'messages', 'documents', 'nothing', '*']),
    ...(random.chance(0.5) ? { filter: random.pick(FILTERS) } : {}),
  })
  return {
    access_token: attacker.token,
    config: {
      broadcast: { ack: random.chance(0.5), self: random.chance(0.5) },
      presence: { key: random.chance(0.5) ? '' : hostileText(random), enabled: true },
      postgres_changes: Array.from({ length: random.pick([0, 1, 3, 120]) }, binding),
      private: random.chance(0.3),
    },
  }
}

function changedPayload(random: Random, payload: Record<string, unknown>): unknown {
  if (random.chance(0.7)) return payload
  const key = random.pick(Object.keys(payload))
  return random.chance(0.2) ? hostileValue(random) : { ...payload, [key]: hostileValue(random) }
}

function phoenixMessage(random: Random, vsn: string, credentials: Credentials, ref: number): string {
  const { conversationId, id } = credentials.attacker
  const topic = random.pick(['realtime:room', 'realtime:other', `realtime:conversation:${conversationId}`, `realtime:conversation:${random.pick(credentials.victimIds)}`, `realtime:${hostileText(random).slice(0, 400)}`, 'phoenix', '']) // prettier-ignore
  const broadcast = { type: 'broadcast', event: 'e', payload: { a: hostileValue(random) } }
  const presence = { type: 'presence', event: random.pick(['track', 'untrack', 'x']), payload: { id, at: hostileValue(random) } } // prettier-ignore
  const [event, payload] = random.pick<() => [string, Record<string, unknown>]>([
    () => ['phx_join', joinPayload(random, credentials)],
    () => ['phx_join', joinPayload(random, credentials)],
    () => ['broadcast', broadcast],
    () => ['presence', presence],
    () => ['access_token', { access_token: random.pick([credentials.attacker.token, 'a.b.c', '']) }],
    () => ['phx_leave', { a: 1 }],
    () => ['heartbeat', { a: 1 }],
    () => [hostileText(random).slice(0, 300), { a: 1 }],
  ])()
  const changed = changedPayload(random, payload)
  const joinRef = random.pick<unknown>(['1', '2', null, ref])
  return vsn === '2.0.0'
    ? JSON.stringify([joinRef, String(ref), topic, event, changed])
    : JSON.stringify({ topic, event, payload: changed, ref: String(ref), join_ref: joinRef })
}

/** A broadcast in the binary layout of version 2.0.0, with lengths that may lie. */
function binaryPush(random: Random): Buffer {
  const texts = ['1', '2', 'realtime:room', 'e', '{}'].map((text) => Buffer.from(text))
  const lengths = texts.map(({ length }) => (random.chance(0.1) ? random.int(256) : length))
  return Buffer.concat([Buffer.from([random.pick([3, 3, 3, 4, 0]), ...lengths, random.int(3)]), ...texts, Buffer.from(hostileJson(random).slice(0, 100_000))]) // prettier-ignore
}

type Step = (random: Random, vsn: string, credentials: Credentials, ref: number) => Buffer

const message: Step = (random, vsn, credentials, ref) =>
  frame(random, Buffer.from(phoenixMessage(random, vsn, credentials, ref)), { opcode: TEXT })

/** Follow RFC 6455: the server must go on answering, or close with a reason. */
const LAWFUL_STEPS: readonly Step[] = [
  ...Array.from({ length: 8 }, () => message),
  (random) => frame(random, Buffer.from(hostileJson(random)), { opcode: TEXT }),
  (random) => frame(random, binaryPush(random), { opcode: BINARY }),
  (random, vsn, credentials, ref) => Buffer.concat(Array.from({ length: 130 }, () => message(random, vsn, credentials, ref))),
  (random) => Buffer.concat(Array.from({ length: random.pick([3, 500]) }, () => frame(random, random.bytes(random.int(126)), { opcode: PING }))),
  (random, vsn, credentials, ref) => {
    const text = Buffer.from(phoenixMessage(random, vsn, credentials, ref))
    const middle = random.int(text.length)
    return Buffer.concat([
      frame(random, text.subarray(0, middle), { opcode: TEXT, isLast: false }),
      frame(random, Buffer.from('ping'), { opcode: PING }),
      frame(random, text.subarray(middle), { opcode: 0 }),
    ])
  },
  (random) => Buffer.concat([frame(random, Buffer.from('['), { opcode: TEXT, isLast: false }), ...Array.from({ length: 2_000 }, () => frame(random, Buffer.alloc(0), { opcode: 0, isLast: false }))]),
  (random) => frame(random, Buffer.alloc(random.pick([100_000, 3_300_000]), 'a'), { opcode: random.pick([TEXT, BINARY]) }),
] // prettier-ignore

/** Break RFC 6455: the server must close the connection. */
const UNLAWFUL_STEPS: readonly Step[] = [
  (random, vsn, credentials, ref) => damageBytes(random, message(random, vsn, credentials, ref)),
  (random) => frame(random, Buffer.from('{}'), { opcode: TEXT, isMasked: false }),
  (random) => frame(random, Buffer.from('{}'), { opcode: TEXT, reserved: 1 + random.int(7) }),
  (random) => frame(random, Buffer.from('{}'), { opcode: random.pick([3, 7, 11, 15]) }),
  (random) => frame(random, Buffer.from('{}'), { opcode: TEXT, announcedLength: random.pick([200, 6_000_000, Number.MAX_SAFE_INTEGER]) }),
  (random) => frame(random, Buffer.concat([Buffer.from([3, 232]), brokenText(random)]), { opcode: CLOSE }),
  (random) => frame(random, Buffer.from(random.pick([[], [3], [0, 0], [3, 237], [255, 255]])), { opcode: CLOSE }),
  (random) => frame(random, Buffer.alloc(200), { opcode: PING }),
  (random) => frame(random, brokenText(random), { opcode: TEXT }),
  (random) => frame(random, Buffer.from('a'), { opcode: 0 }),
  (random) => random.bytes(200),
] // prettier-ignore

/** Payloads of the server's frames; true in `isClosed` once it has sent a close frame. */
function readFrames(received: Buffer): { texts: string; isClosed: boolean } {
  let texts = ''
  for (let at = 0; at + 2 <= received.length;) {
    const opcode = received.readUInt8(at) & 0x0f
    const short = received.readUInt8(at + 1) & 0x7f
    const headBytes = short < 126 ? 2 : short === 126 ? 4 : 10
    if (at + headBytes > received.length) break
    const length =
      short < 126 ? short : short === 126 ? received.readUInt16BE(at + 2) : Number(received.readBigUInt64BE(at + 2))
    if (opcode === CLOSE) return { texts, isClosed: true }
    texts += received.toString('utf8', at + headBytes, at + headBytes + length)
    at += headBytes + length
  }
  return { texts, isClosed: false }
}

const PATHS = [
  '/realtime/v1/websocket',
  '/realtime/v1/websocket/',
  '/realtime/v1/[',
  '/realtime/v1/',
  '//[',
  '/api/documents',
]

function handshake(random: Random, vsn: string, { apikey }: Credentials): { text: string; isValid: boolean } {
  const isValid = random.chance(0.85)
  const spoil = (right: string, wrong: readonly string[]): string =>
    !isValid && random.chance(0.4) ? random.pick(wrong) : right
  const path = spoil('/realtime/v1/websocket', PATHS)
  const key = spoil(apikey, ['', 'a.b.c', encodeURIComponent(hostileText(random).toWellFormed()).slice(0, 10_000)])
  const lines = [
    `${spoil('GET', ['POST', 'OPTIONS'])} ${path}?vsn=${spoil(vsn, ['3.0.0', '%00', ''])}&apikey=${key} HTTP/1.1`,
    'host: localhost',
    spoil('connection: Upgrade', ['connection: close', 'connection: keep-alive, Upgrade, Upgrade']),
    spoil('upgrade: websocket', ['upgrade: WEBSOCKET', 'upgrade: h2c', 'upgrade: websocket, h2c']),
    spoil('sec-websocket-version: 13', ['sec-websocket-version: 8', 'sec-websocket-version: a']),
    spoil('sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==', ['sec-websocket-key: short', 'x-key: none']),
    ...(random.chance(0.2) ? ['sec-websocket-extensions: permessage-deflate; server_max_window_bits=99'] : []),
    ...(random.chance(0.1) ? ['sec-websocket-protocol: a, a,,"'] : []),
  ]
  return { text: `${lines.join('\r\n')}\r\n\r\n`, isValid }
}

export interface SocketAnswer {
  readonly status: number | undefined
  readonly text: string
  readonly tookMs: number
  /** The handshake had no answer, or neither a heartbeat nor an end came after frames that follow the protocol. */
  readonly isMissing: boolean
}

const HEAD_END = '\r\n\r\n'
const LAST_REF = 'the-last-ref'
/** For a client that goes on after a close frame, or stops in the middle of a frame. */
const ABANDON_AFTER_MS = 300

/** One connection: the handshake, up to a dozen steps, then a heartbeat that must be answered unless the server closes. */
export async function fuzzSocket(
  port: number,
  random: Random,
  credentials: Credentials,
  limitMs: number,
): Promise<SocketAnswer> {
  const vsn = random.pick(['1.0.0', '2.0.0'])
  const opening = handshake(random, vsn, credentials)
  const isLawful = random.chance(0.7)
  const isSlow = random.chance(0.1)
  const heartbeat =
    vsn === '2.0.0'
      ? JSON.stringify([null, LAST_REF, 'phoenix', 'heartbeat', {}])
      : JSON.stringify({ topic: 'phoenix', event: 'heartbeat', payload: {}, ref: LAST_REF })
  const steps = Array.from({ length: random.int(12) }, (_, ref) =>
    random.pick(isLawful || random.chance(0.7) ? LAWFUL_STEPS : UNLAWFUL_STEPS)(random, vsn, credentials, ref),
  )
  const startedAt = performance.now()
  let received = Buffer.alloc(0)
  const { promise: ended, resolve: end } = Promise.withResolvers<undefined>()
  const { promise: heard, resolve: hear } = Promise.withResolvers<undefined>()
  const { promise: opened, resolve: open } = Promise.withResolvers<undefined>()
  const socket = connect({ port, host: '127.0.0.1' })
  socket.on('data', (data: Buffer) => {
    received = Buffer.concat([received, data])
    const headEnd = received.indexOf(HEAD_END)
    if (headEnd < 0) return
    open(undefined)
    const { texts, isClosed } = readFrames(received.subarray(headEnd + HEAD_END.length))
    if (isClosed || texts.includes(LAST_REF)) hear(undefined)
  })
  socket.on('close', () => end(undefined))
  // A reset ends the connection too.
  socket.on('error', () => socket.destroy())
  socket.write(opening.text)
  const isOpened = await within(limitMs, Promise.race([opened, ended]))
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(received.toString('latin1', 0, 20))?.[1] ?? Number.NaN)
  let isMissing = !isOpened && opening.isValid
  if (status === 101) {
    for (const step of [...steps, frame(random, Buffer.from(heartbeat), { opcode: TEXT })]) {
      if (socket.destroyed) break
      socket.write(step)
      if (isSlow) await delay(30)
    }
    const isClosing = random.chance(0.2)
    if (isClosing) socket.end()
    const mustAnswer = isLawful && !isClosing
    const isAnswered = await within(mustAnswer ? limitMs : ABANDON_AFTER_MS, Promise.race([heard, ended]))
    isMissing ||= mustAnswer && !isAnswered
  }
  socket.destroy()
  const tookMs = performance.now() - startedAt
  return { status: Number.isNaN(status) ? undefined : status, text: received.toString('latin1'), tookMs, isMissing }
}

async function within(limitMs: number, awaited: Promise<unknown>): Promise<boolean> {
  const stop = new AbortController()
  const late = delay(limitMs, false, { signal: stop.signal })
  const isInTime = await Promise.race([awaited.then(() => true), late])
  stop.abort()
  // The timer was stopped on purpose.
  await late.catch(() => undefined)
  return isInTime
}
