/** Detects the encoding of a text file: byte order mark, then strict UTF-8, then statistics. */
import iconv from 'iconv-lite'

const SAMPLE_BYTES = 64 * 1024
/** Above this share of control characters (except tab and line ends), bytes are not text. */
const MAX_CONTROL_SHARE = 0.02

const BYTE_ORDER_MARKS: readonly (readonly [encoding: string, mark: readonly number[]])[] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-32le', [0xff, 0xfe, 0, 0]],
  ['utf-32be', [0, 0, 0xfe, 0xff]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
]

/** Drops the byte order mark and NUL characters; undefined if the bytes are not text. */
export async function decodeText(bytes: Uint8Array): Promise<string | undefined> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const decoded = iconv
    .decode(buffer, await detectEncoding(buffer))
    .replace(/^\uFEFF/, '')
    .replaceAll('\0', '')
  return isText(decoded) ? decoded : undefined
}

async function detectEncoding(bytes: Buffer): Promise<string> {
  const marked = BYTE_ORDER_MARKS.find(([, mark]) => mark.every((byte, index) => bytes[index] === byte))
  if (marked) return marked[0]
  // UTF-16 without a mark is also valid UTF-8, full of NUL bytes.
  if (!bytes.includes(0) && isUtf8(bytes)) return 'utf-8'
  // Loaded on demand: its tables are large, and few files need them.
  const { default: jschardet } = await import('jschardet')
  const { encoding } = jschardet.detect(bytes.subarray(0, SAMPLE_BYTES))
  if (isShortWestern(bytes) && !COMMON_ENCODINGS.test(encoding ?? '')) return 'windows-1252'
  // The library takes curly quotes of windows-1252 for MacRoman.
  if (encoding === null || /^mac/i.test(encoding) || !iconv.encodingExists(encoding))
    return bytes.includes(0) && isUtf8(bytes) ? 'utf-8' : 'windows-1252'
  // The library takes ASCII with a few stray NUL bytes for UTF-16.
  if (/^utf-?(16|32)/i.test(encoding) && zeroShare(bytes) < 0.15 && isUtf8(bytes)) return 'utf-8'
  return encoding
}

/** Statistics of so short a text are chance, so only the usual encodings count. */
const SHORT_BYTES = 200
const COMMON_ENCODINGS = /^(?:utf|windows-|gb|big5|euc|shift|cp9[345]|iso-2022|koi8)/i
const LETTER = String.raw`\p{Script=Latin}`
/** A symbol inside a word shows that the bytes are letters of another encoding. */
const SIGN_IN_WORD = new RegExp(`${LETTER}[^\\x00-\\x7f\\p{L}\\xa0\\xad·’–—]${LETTER}`, 'u')

function isShortWestern(bytes: Buffer): boolean {
  if (bytes.length > SHORT_BYTES || bytes.includes(0)) return false
  const text = iconv.decode(bytes, 'windows-1252')
  const [ascii, others] = [text.match(/[A-Za-z]/g)?.length ?? 0, text.match(/[^\x00-\x7f]/g)?.length ?? 0]
  return 2 * others <= ascii && !/[\x80-\x9f\ufffd]/.test(text) && !SIGN_IN_WORD.test(text)
}

function zeroShare(bytes: Buffer): number {
  const sample = bytes.subarray(0, SAMPLE_BYTES)
  return sample.reduce((zeros, byte) => zeros + (byte === 0 ? 1 : 0), 0) / sample.length
}

function isUtf8(bytes: Buffer): boolean {
  try {
    // Streaming accepts a file that was cut inside a character.
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true })
    return (bytes.at(-1) ?? 0) < 0x80 || /[^\x00-\x7f]/.test(text)
  } catch {
    return false
  }
}

function isText(text: string): boolean {
  const sample = text.slice(0, SAMPLE_BYTES)
  const controls =
    sample.match(/[\u0001-\u0008\u000b\u000e-\u001a\u001c-\u001f\u007f\u0080-\u009f\ufffd\ufffe\uffff]/g)?.length ?? 0
  return controls <= MAX_CONTROL_SHARE * sample.length
}
