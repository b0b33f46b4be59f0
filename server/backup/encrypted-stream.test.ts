import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { decryptStream, encryptStream } from './encrypted-stream.ts'

const key = randomBytes(32)
const HEADER_BYTES = 32
const PIECE_BYTES = 64 * 1024
const STORED_PIECE_BYTES = PIECE_BYTES + 16

async function* inChunks(bytes: Buffer, length = 10_000): AsyncGenerator<Buffer> {
  for (let start = 0; start < bytes.length; start += length) yield bytes.subarray(start, start + length)
}

async function collect(source: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks = []
  for await (const chunk of source) chunks.push(chunk)
  return Buffer.concat(chunks)
}

const encrypt = (bytes: Buffer, name = 'file') => collect(encryptStream(inChunks(bytes), key, name))
const decrypt = (bytes: Buffer, { name = 'file', length = 10_000, by = key } = {}) =>
  collect(decryptStream(inChunks(bytes, length), by, name))

test.each([0, 1, PIECE_BYTES - 1, PIECE_BYTES, PIECE_BYTES + 1, 3 * PIECE_BYTES, 300_001])(
  'returns %d bytes as they were, however they arrive',
  async (length) => {
    const bytes = randomBytes(length)
    const stored = await encrypt(bytes)
    for (const chunk of [1_000, PIECE_BYTES, 1_000_000])
      expect((await decrypt(stored, { length: chunk })).equals(bytes)).toBe(true)
    expect(length > 16 && stored.includes(bytes.subarray(0, 16))).toBe(false)
  },
)

test('rejects bytes that were changed, cut off, added, exchanged or repeated', async () => {
  const stored = await encrypt(randomBytes(3 * PIECE_BYTES + 100))
  const pieces = [0, 1, 2].map((index) =>
    stored.subarray(HEADER_BYTES + index * STORED_PIECE_BYTES, HEADER_BYTES + (index + 1) * STORED_PIECE_BYTES),
  )
  const [first, second, third] = pieces as [Buffer, Buffer, Buffer]
  const head = stored.subarray(0, HEADER_BYTES)
  const tail = stored.subarray(HEADER_BYTES + 3 * STORED_PIECE_BYTES)
  const changed = [0, 20, 40, HEADER_BYTES + STORED_PIECE_BYTES - 1, stored.length - 1].map((index) => {
    const copy = Buffer.from(stored)
    copy[index] = (copy[index] ?? 0) ^ 1
    return copy
  })
  const damaged = [
    ...changed,
    Buffer.alloc(0),
    stored.subarray(0, 10),
    head,
    stored.subarray(0, -1),
    Buffer.concat([head, first, second, third]),
    Buffer.concat([head, first]),
    Buffer.concat([stored, Buffer.from('x')]),
    Buffer.concat([head, second, first, third, tail]),
    Buffer.concat([head, first, first, second, third, tail]),
  ]
  for (const [index, bytes] of damaged.entries()) await expect(decrypt(bytes), `the one at ${index}`).rejects.toThrow()
  expect(await decrypt(Buffer.concat([head, first, second, third, tail]))).toHaveLength(3 * PIECE_BYTES + 100)
})

test('a file is readable under its own name and key alone', async () => {
  const stored = await encrypt(Buffer.from('the lamp'), 'one')
  await expect(decrypt(stored, { name: 'other' })).rejects.toThrow()
  await expect(decrypt(stored, { name: 'one', by: randomBytes(32) })).rejects.toThrow()
  expect((await decrypt(stored, { name: 'one' })).toString()).toBe('the lamp')
})
