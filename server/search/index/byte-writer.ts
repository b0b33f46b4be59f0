export interface ByteWriter {
  readonly length: number
  /** LEB128 of an integer from 0 to 2^31 - 1. */
  varint(value: number): void
  bytes(source: Uint8Array, from?: number, to?: number): void
  /** A view, valid until the next write. */
  written(): Uint8Array
  clear(): void
}

const MIN_SET_BYTES = 32

export function createByteWriter(): ByteWriter {
  let buffer = new Uint8Array(16)
  let length = 0
  const reserve = (count: number) => {
    if (length + count <= buffer.length) return
    const grown = new Uint8Array(Math.max(buffer.length * 2, length + count))
    grown.set(buffer)
    buffer = grown
  }
  function add(source: Uint8Array, from: number, to: number): void {
    reserve(to - from)
    if (to - from >= MIN_SET_BYTES) buffer.set(source.subarray(from, to), length)
    else for (let at = from; at < to; at += 1) buffer[length + at - from] = source[at] ?? 0
    length += to - from
  }
  return {
    get length() {
      return length
    },
    varint(value) {
      reserve(MAX_VARINT_BYTES)
      let rest = value
      while (rest > 127) {
        buffer[length] = (rest & 127) | 128
        length += 1
        rest >>>= 7
      }
      buffer[length] = rest
      length += 1
    },
    bytes: (source, from = 0, to = source.length) => add(source, from, to),
    written: () => buffer.subarray(0, length),
    clear() {
      length = 0
    },
  }
}

export const MAX_VARINT_BYTES = 5

export function varintAt(bytes: Uint8Array, at: number): number {
  let value = bytes[at] ?? 0
  if (value < 128) return value
  value &= 127
  for (let [next, shift] = [at + 1, 7]; ; next += 1, shift += 7) {
    const byte = bytes[next] ?? 0
    value |= (byte & 127) << shift
    if (byte < 128) return value
  }
}

export function varintEnd(bytes: Uint8Array, at: number): number {
  let end = at
  while ((bytes[end] ?? 0) > 127) end += 1
  return end + 1
}

/** For fewer numbers a view of the bytes costs more than it saves. */
const MIN_FOURS = 16

/** The offset after so many varints. */
export function skipVarints(bytes: Uint8Array, start: number, count: number): number {
  let [at, rest] = [start, count]
  if (rest > MIN_FOURS) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    // Four at once where none of them continues, as most do not.
    while (rest >= 4) {
      const long = view.getUint32(at) & 0x80_80_80_80
      at += 4
      rest -= 4
      if (long !== 0) rest += ((long >>> 31) & 1) + ((long >>> 23) & 1) + ((long >>> 15) & 1) + ((long >>> 7) & 1)
    }
  }
  while (rest > 0) {
    if ((bytes[at] ?? 0) < 128) rest -= 1
    at += 1
  }
  return at
}

export interface ByteReader {
  readonly bytes: Uint8Array
  at: number
  varint(): number
  skip(count: number): void
}

export function createByteReader(bytes: Uint8Array, from = 0): ByteReader {
  const reader = {
    bytes,
    at: from,
    varint() {
      let value = bytes[reader.at] ?? 0
      reader.at += 1
      if (value < 128) return value
      value &= 127
      for (let shift = 7; ; shift += 7) {
        const byte = bytes[reader.at] ?? 0
        reader.at += 1
        value |= (byte & 127) << shift
        if (byte < 128) return value
      }
    },
    skip(count: number) {
      reader.at = skipVarints(bytes, reader.at, count)
    },
  }
  return reader
}
