/**
 * Encrypts a stream in pieces of 64 KiB by AES-256-GCM, as the STREAM construction does (Hoang, Reyhanitabar, Rogaway,
 * Vizár: "Online Authenticated-Encryption and its Nonce-Reuse Misuse-Resistance"): each nonce counts the pieces and marks
 * the last one, so that pieces cannot be exchanged, repeated or cut off. Each file has a key of its own, bound to its name.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { deriveKey } from './passphrase.ts'

const MAGIC = Buffer.from('alcove-backup-1\n')
const SALT_BYTES = 16
const PIECE_BYTES = 64 * 1024
const TAG_BYTES = 16
const HEADER_BYTES = MAGIC.length + SALT_BYTES

function nonceOf(piece: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12)
  nonce.writeUIntBE(piece, 5, 6)
  nonce.writeUInt8(isLast ? 1 : 0, 11)
  return nonce
}

const fileKey = (key: Buffer, salt: Buffer, name: string): Buffer => deriveKey(key, salt, `alcove backup file ${name}`)

interface Piece {
  /** Valid until the next one is asked for. */
  readonly piece: Buffer
  readonly isLast: boolean
}

/** Yields pieces of `size` bytes and then the rest, which is empty only where everything is; tells the last one. */
async function* cut(source: AsyncIterable<Buffer>, size: number): AsyncGenerator<Piece> {
  // One buffer for all pieces: large ones that are no longer used wait for the garbage collector outside of its heap.
  const piece = Buffer.allocUnsafeSlow(size)
  let length = 0
  for await (const chunk of source) {
    for (let start = 0; start < chunk.length;) {
      // A full piece waits until more bytes show that it is not the last.
      if (length === size) {
        yield { piece, isLast: false }
        length = 0
      }
      const copied = chunk.copy(piece, length, start)
      start += copied
      length += copied
    }
  }
  yield { piece: piece.subarray(0, length), isLast: true }
}

export async function* encryptStream(source: AsyncIterable<Buffer>, key: Buffer, name: string): AsyncGenerator<Buffer> {
  const salt = randomBytes(SALT_BYTES)
  const own = fileKey(key, salt, name)
  yield Buffer.concat([MAGIC, salt])
  let index = 0
  for await (const { piece, isLast } of cut(source, PIECE_BYTES)) {
    const cipher = createCipheriv('aes-256-gcm', own, nonceOf(index, isLast))
    yield cipher.update(piece)
    cipher.final()
    yield cipher.getAuthTag()
    index += 1
  }
}

/** Yields the header alone and then the rest. */
async function* splitHeader(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer, undefined> {
  let head: Buffer | undefined = Buffer.alloc(0)
  for await (const chunk of source) {
    if (head === undefined) {
      yield chunk
      continue
    }
    head = Buffer.concat([head, chunk])
    if (head.length < HEADER_BYTES) continue
    yield head.subarray(0, HEADER_BYTES)
    if (head.length > HEADER_BYTES) yield head.subarray(HEADER_BYTES)
    head = undefined
  }
  if (head !== undefined) throw new Error('the file ends before its header does')
  return undefined
}

/** @throws Error where the bytes are not those that were written under this name */
export async function* decryptStream(source: AsyncIterable<Buffer>, key: Buffer, name: string): AsyncGenerator<Buffer> {
  const pieces = splitHeader(source)
  const { value: header } = await pieces.next()
  if (!header?.subarray(0, MAGIC.length).equals(MAGIC)) throw new Error('the file is not an encrypted one')
  const own = fileKey(key, header.subarray(MAGIC.length), name)
  let index = 0
  for await (const { piece, isLast } of cut(pieces, PIECE_BYTES + TAG_BYTES)) {
    if (piece.length < TAG_BYTES) throw new Error('the file is cut off')
    const decipher = createDecipheriv('aes-256-gcm', own, nonceOf(index, isLast), { authTagLength: TAG_BYTES })
    decipher.setAuthTag(piece.subarray(-TAG_BYTES))
    const bytes = decipher.update(piece.subarray(0, -TAG_BYTES))
    // Throws for bytes that are not authentic, before any of them leaves.
    decipher.final()
    yield bytes
    index += 1
  }
}
