/** Reads no more than the headers of PostgreSQL's messages: a byte for the type and four for the length. */
import { AppError } from '#server/base/errors.ts'

const HEADER_BYTES = 5
/** The length counts itself. */
const MIN_LENGTH = 4
const DATA_ROW = 'D'.charCodeAt(0)
const COMMAND_COMPLETE = 'C'.charCodeAt(0)
const READY_FOR_QUERY = 'Z'.charCodeAt(0)

/** Below half of V8's longest string, so that every message can become text. */
const MAX_MESSAGE_BYTES = 128 * 1024 * 1024
const MAX_RESULT_BYTES = 512 * 1024 * 1024

const tooLarge = (bytes: number) =>
  new AppError('too_large', `The answer of the database is larger than ${bytes / 1024 / 1024} MB. Ask for less.`)

/** Takes the chunks of one connection in order. @throws AppError `too_large` at the header of a message past a bound */
export function createMessageBounds({ maxMessageBytes = MAX_MESSAGE_BYTES, maxResultBytes = MAX_RESULT_BYTES } = {}): (
  chunk: Buffer,
) => void {
  const header = Buffer.alloc(HEADER_BYTES)
  let headerBytes = 0
  /** Bytes of the current message that are still to come. */
  let remaining = 0
  let resultBytes = 0

  function beginMessage(type: number, length: number): void {
    if (length < MIN_LENGTH) throw new Error('PostgreSQL sent a message without a length')
    if (length > maxMessageBytes) throw tooLarge(maxMessageBytes)
    if (type === DATA_ROW) {
      resultBytes += length
      if (resultBytes > maxResultBytes) throw tooLarge(maxResultBytes)
    } else if (type === COMMAND_COMPLETE || type === READY_FOR_QUERY) resultBytes = 0
    remaining = length - MIN_LENGTH
  }

  return function check(chunk) {
    let at = 0
    while (at < chunk.length) {
      const skipped = Math.min(remaining, chunk.length - at)
      at += skipped
      remaining -= skipped
      if (at === chunk.length) return
      if (headerBytes === 0 && chunk.length - at >= HEADER_BYTES) {
        beginMessage(chunk.readUInt8(at), chunk.readUInt32BE(at + 1))
        at += HEADER_BYTES
        continue
      }
      const copied = chunk.copy(header, headerBytes, at, at + HEADER_BYTES - headerBytes)
      at += copied
      headerBytes += copied
      if (headerBytes < HEADER_BYTES) return
      headerBytes = 0
      beginMessage(header.readUInt8(0), header.readUInt32BE(1))
    }
  }
}
