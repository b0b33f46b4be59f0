/** Frames a message as HTTP/1.1, rightly or wrongly, and decides how its bytes are delivered. */
import type { Message } from './mutate.ts'
import type { Random } from './random.ts'

export interface Transmission {
  readonly method: string
  readonly chunks: readonly Buffer[]
  readonly pauseMs: number
  /** Ends its side of the connection after the last byte. */
  readonly isHalfClosed: boolean
  /** Closes the connection after this many bytes of the answer. */
  readonly abortsAfterBytes: number | undefined
  /** Everything that its framing announces is sent, so that an answer or a closed connection is due. */
  readonly isComplete: boolean
}

interface Framed {
  readonly bytes: Buffer
  readonly isComplete: boolean
}

/** Header lines and texts are written as Latin-1, so that any byte can be sent. */
const headOf = ({ method, target, headers }: Message, framing: readonly string[], version = 'HTTP/1.1'): Buffer =>
  Buffer.from(
    [`${method} ${target} ${version}`, ...headers.map(([name, value]) => `${name}: ${value}`), ...framing, '', ''].join(
      '\r\n',
    ),
    'latin1',
  )

const lengthOf = ({ body }: Message): string[] => (body.length === 0 ? [] : [`content-length: ${body.length}`])

const framedRightly = (message: Message): Framed => ({
  bytes: Buffer.concat([headOf(message, [...lengthOf(message), 'connection: close']), message.body]),
  isComplete: true,
})

function inChunks(body: Buffer, size: number): Buffer {
  const chunks: Buffer[] = []
  for (let at = 0; at < body.length; at += size) {
    const chunk = body.subarray(at, at + size)
    chunks.push(Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n'))
  }
  return Buffer.concat(chunks)
}

const CHUNKED = ['transfer-encoding: chunked', 'connection: close']

const FRAMINGS: readonly ((message: Message, random: Random) => Framed)[] = [
  (message, random) => ({
    bytes: Buffer.concat([headOf(message, CHUNKED), inChunks(message.body, random.pick([1_000, 70_000])), Buffer.from('0\r\n\r\n')]),
    isComplete: true,
  }),
  (message) => ({ bytes: Buffer.concat([headOf(message, CHUNKED), inChunks(message.body, 900)]), isComplete: false }),
  (message, random) => ({
    bytes: Buffer.concat([headOf(message, CHUNKED), Buffer.from(random.pick(['zz\r\n', '-1\r\n', 'ffffffffffffffff\r\n', '5;a="b\r\nabc', '\r\n', `${'0'.repeat(20_000)}1\r\na\r\n`]))]),
    isComplete: false,
  }),
  (message) => ({
    bytes: Buffer.concat([headOf(message, CHUNKED), inChunks(message.body, 900), Buffer.from(`0\r\nx-trailer: ${'t'.repeat(9_000)}\r\n\r\n`)]),
    isComplete: false,
  }),
  (message, random) => ({
    bytes: Buffer.concat([headOf(message, [`content-length: ${message.body.length + random.pick([1, 100, 1e9])}`, 'connection: close']), message.body]),
    isComplete: false,
  }),
  (message) => ({
    bytes: Buffer.concat([headOf(message, [`content-length: ${Math.max(0, message.body.length - 3)}`, 'connection: close']), message.body]),
    isComplete: true,
  }),
  (message, random) => ({
    bytes: Buffer.concat([headOf(message, [`content-length: ${random.pick(['-1', '1e3', '0x10', '', '5, 5', '99999999999999999999'])}`]), message.body]),
    isComplete: false,
  }),
  (message) => ({
    bytes: Buffer.concat([headOf(message, [...lengthOf(message), ...CHUNKED]), message.body]),
    isComplete: false,
  }),
  (message, random) => {
    const version = random.pick(['HTTP/1.0', 'HTTP/0.9', 'HTTP/2.0', 'HTTP/1.1 ', 'http/1.1', 'HTTP/1.11', ''])
    return { bytes: Buffer.concat([headOf(message, lengthOf(message), version), message.body]), isComplete: version === 'HTTP/1.0' }
  },
  (message) => ({ bytes: Buffer.from(framedRightly(message).bytes.toString('latin1').replaceAll('\r\n', '\n'), 'latin1'), isComplete: false }),
  (message, random) => {
    const head = headOf(message, [])
    return { bytes: head.subarray(0, random.int(head.length)), isComplete: false }
  },
  (message) => ({ bytes: Buffer.concat([headOf(message, lengthOf(message)), message.body, framedRightly(message).bytes]), isComplete: true }),
  (message, random) => ({
    bytes: Buffer.concat([...Array.from({ length: random.pick([3, 40]) }, () => headOf({ ...message, method: 'GET', body: Buffer.alloc(0) }, [])), framedRightly(message).bytes]),
    isComplete: true,
  }),
  (message, random) => ({ bytes: Buffer.concat([framedRightly(message).bytes, random.bytes(50)]), isComplete: true }),
  (_, random) => ({ bytes: random.bytes(1 + random.int(300)), isComplete: false }),
] // prettier-ignore

function split(random: Random, bytes: Buffer): Buffer[] {
  const cuts = Array.from({ length: 1 + random.int(4) }, () => random.int(bytes.length + 1)).sort((a, b) => a - b)
  return [...cuts, bytes.length].map((end, index) => bytes.subarray(cuts[index - 1] ?? 0, end))
}

/** A header that a mutation added or removed may frame the body in another way. */
const CHANGES_FRAMING = /^(content-length|transfer-encoding|connection|upgrade|expect|host)$/i

export function transmit(random: Random, message: Message): Transmission {
  const isFramedRightly = random.chance(0.7)
  const framed = isFramedRightly ? framedRightly(message) : random.pick(FRAMINGS)(message, random)
  const isSlow = random.chance(0.08)
  const changesFraming = message.headers.slice(1).some(([name]) => CHANGES_FRAMING.test(name))
  return {
    method: message.method,
    chunks: isSlow ? split(random, framed.bytes) : [framed.bytes],
    pauseMs: isSlow ? random.pick([10, 100, 400]) : 0,
    isHalfClosed: random.chance(0.06),
    abortsAfterBytes: random.chance(0.06) ? random.pick([0, 1, 200, 20_000]) : undefined,
    isComplete: framed.isComplete && !changesFraming,
  }
}

export const transmitRightly = (message: Message): Transmission => ({
  method: message.method,
  chunks: [framedRightly(message).bytes],
  pauseMs: 0,
  isHalfClosed: false,
  abortsAfterBytes: undefined,
  isComplete: true,
})
