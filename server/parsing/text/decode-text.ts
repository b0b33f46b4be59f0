/** Detects the encoding of a text file: byte order mark, then strict UTF-8, then statistics. */
import iconv from 'iconv-lite'
import { evidentEncoding, isText, SAMPLE_BYTES } from './looks-like-text.ts'

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
  const evident = evidentEncoding(bytes)
  if (evident !== undefined) return evident
  // Loaded on demand: its tables are large, and few files need them.
  const { default: jschardet } = await import('jschardet')
  const { encoding } = jschardet.detect(bytes.subarray(0, SAMPLE_BYTES))
  if (isShortWestern(bytes) && !COMMON_ENCODINGS.test(encoding ?? '')) return 'windows-1252'
  // The library takes curly quotes of windows-1252 for MacRoman.
  if (encoding === null || /^(mac|utf-?(16|32))/i.test(encoding) || !iconv.encodingExists(encoding))
    return 'windows-1252'
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
