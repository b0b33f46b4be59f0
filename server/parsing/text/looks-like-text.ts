/** Tells from bytes alone whether they are text: the server asks that of every upload, without the tables of encodings. */
import iconv from 'iconv-lite'

export const SAMPLE_BYTES = 64 * 1024
/** Above this share of control characters (except tab, escape and line ends), bytes are not text. */
const MAX_CONTROL_SHARE = 0.02

/** Text in UTF-16 with so few letters and signs of ASCII has other control characters instead. */
const MAX_STRAY_NULS = 0.15

const BYTE_ORDER_MARKS: readonly (readonly [encoding: string, mark: readonly number[]])[] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-32le', [0xff, 0xfe, 0, 0]],
  ['utf-32be', [0, 0, 0xfe, 0xff]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
]

/** An encoding that the bytes themselves show: a byte order mark, strict UTF-8, or the NUL bytes of UTF-16. */
export function evidentEncoding(bytes: Buffer): string | undefined {
  const marked = BYTE_ORDER_MARKS.find(([, mark]) => mark.every((byte, index) => bytes[index] === byte))
  if (marked) return marked[0]
  const utf16 = bytes.includes(0) && !hasStrayNuls(bytes) ? findUtf16(bytes) : undefined
  return utf16 ?? (isUtf8(bytes) ? 'utf-8' : undefined)
}

/** Text of one byte a character, with a few NUL bytes in it. */
function hasStrayNuls(bytes: Buffer): boolean {
  const sample = bytes.subarray(0, SAMPLE_BYTES)
  const nuls = sample.reduce((count, byte) => count + (byte === 0 ? 1 : 0), 0)
  return nuls < MAX_STRAY_NULS * sample.length && isAsciiText(sample)
}

/** Whether the characters of ASCII among the bytes are text, whatever the others are. */
const isAsciiText = (bytes: Buffer): boolean => isText(bytes.toString('latin1').replaceAll(/[\0\x7f-\x9f]/g, ''))

/** Spaces and punctuation of every script have a NUL byte in UTF-16; with the bytes in the wrong order they are rare signs. */
function findUtf16(bytes: Buffer): string | undefined {
  const found = ['utf-16le', 'utf-16be']
    .map((encoding) => ({ encoding, text: iconv.decode(bytes.subarray(0, SAMPLE_BYTES), encoding) }))
    .filter(({ text }) => countMatches(text, NO_CHARACTER) <= MAX_CONTROL_SHARE * text.length)
    .map(({ encoding, text }) => ({
      encoding,
      plain: countMatches(text, /[\t\n\r\x20-\x7e\u3000-\u303f]/g) / text.length,
    }))
    .sort((a, b) => b.plain - a.plain)[0]
  return found !== undefined && found.plain > MAX_CONTROL_SHARE ? found.encoding : undefined
}

const NO_CHARACTER = /[\0-\x08\x0b\x0e-\x1f\x7f-\x9f\p{Cn}\p{Co}\p{Cs}]/gu

const countMatches = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0

function isUtf8(bytes: Buffer): boolean {
  try {
    // Streaming accepts a file that was cut inside a character.
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true })
    return (bytes.at(-1) ?? 0) < 0x80 || /[^\x00-\x7f]/.test(text)
  } catch {
    return false
  }
}

const CONTROLS = /[\u0001-\u0008\u000b\u000e-\u001a\u001c-\u001f\u007f\u0080-\u009f\ufffd\ufffe\uffff]/g

/** Whether decoded characters are text. NUL characters do not count. */
export function isText(text: string): boolean {
  const sample = text.slice(0, SAMPLE_BYTES)
  return countMatches(sample, CONTROLS) <= MAX_CONTROL_SHARE * sample.length
}

/** Whether bytes are text in any encoding. Where none is evident, the control characters of ASCII decide. */
export function looksLikeText(bytes: Uint8Array): boolean {
  const sample = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, SAMPLE_BYTES))
  const evident = evidentEncoding(sample)
  if (evident !== undefined) return isText(iconv.decode(sample, evident).replaceAll('\0', ''))
  return isAsciiText(sample)
}
