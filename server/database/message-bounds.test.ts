import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createMessageBounds } from './message-bounds.ts'

const BOUNDS = { maxMessageBytes: 100, maxResultBytes: 250 }

function message(type: string, payloadBytes: number, declaredBytes = payloadBytes + 4): Buffer {
  const bytes = Buffer.alloc(5 + payloadBytes, 'D')
  bytes.write(type, 0, 'latin1')
  bytes.writeUInt32BE(declaredBytes, 1)
  return bytes
}

function checkInChunks(bytes: Buffer, sizes: readonly number[]): void {
  const check = createMessageBounds(BOUNDS)
  for (let at = 0, step = 0; at < bytes.length; step += 1) {
    const size = sizes[step % sizes.length] ?? 1
    check(bytes.subarray(at, at + size))
    at += size
  }
}

const chunkSizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 })
const payloads = fc.array(fc.tuple(fc.constantFrom('D', 'T', 'C', 'Z', 'N'), fc.integer({ min: 0, max: 120 })), { maxLength: 20 }) // prettier-ignore

test('messages are refused by their own length and by that of a result, however the bytes are cut', () => {
  fc.assert(
    fc.property(payloads, chunkSizes, (sent, sizes) => {
      let result = 0
      const isRefused = sent.some(([type, payloadBytes]) => {
        const length = payloadBytes + 4
        result = type === 'D' ? result + length : type === 'C' || type === 'Z' ? 0 : result
        return length > BOUNDS.maxMessageBytes || result > BOUNDS.maxResultBytes
      })
      const act = () => checkInChunks(Buffer.concat(sent.map(([type, size]) => message(type, size))), sizes)
      if (isRefused) expect(act).toThrow('The answer of the database is larger')
      else expect(act).not.toThrow()
    }),
  )
})

test('a message past the bound is refused before its bytes come', () => {
  expect(() => checkInChunks(message('D', 0, 0xffffffff), [5])).toThrow('The answer of the database is larger')
  expect(() => checkInChunks(message('D', 0, 3), [2, 3])).toThrow('without a length')
})
