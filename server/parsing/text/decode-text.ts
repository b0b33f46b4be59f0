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
  const words = sampleWords(bytes)
  if (isNearlyUtf8(words)) return 'utf-8'
  const sample = isMostlyAscii(words) || countBeyondAscii(words) <= LONE_SIGN_BYTES ? sampleSurroundings(bytes) : words
  // Loaded on demand: its tables are large, and few files need them.
  const { default: jschardet } = await import('jschardet')
  const { encoding } = jschardet.detect(sample)
  if (words.length <= FEW_BYTES && isWestern(sample) && !COMMON_ENCODINGS.test(encoding ?? '')) return 'windows-1252'
  // The library takes curly quotes of windows-1252 for MacRoman.
  if (encoding === null || /^(ascii|mac|utf-?(16|32))/i.test(encoding) || !iconv.encodingExists(encoding))
    return 'windows-1252'
  return encoding
}

/** A blank is no part of another character in any encoding. Scripts without spaces have long runs. */
const WORD_BEYOND_ASCII = /[\x80-\xff][\x21-\xff]{0,1000}\s?/g
const MAX_WORD_START = 64
const LONE_SIGN_BYTES = 2

/**
 * The words with bytes that are not ASCII, which alone show the encoding: the first may follow megabytes of ASCII, and
 * English around words of another script would pass for the language of the text.
 */
function sampleWords(bytes: Buffer): Buffer {
  const text = bytes.toString('latin1')
  const words: string[] = []
  let [sampled, end] = [0, 0]
  for (const { 0: word, index } of text.matchAll(WORD_BEYOND_ASCII)) {
    const [wordStart = ''] = /\S*$/.exec(text.slice(Math.max(end, index - MAX_WORD_START), index)) ?? []
    words.push(wordStart, word)
    sampled += wordStart.length + word.length
    end = index + word.length
    if (sampled >= SAMPLE_BYTES) break
  }
  return Buffer.from(words.join(''), 'latin1')
}

/** Share of the characters beyond ASCII that are whole where only a few bytes of a text in UTF-8 are broken. */
const MIN_WHOLE_SHARE = 0.8

function isNearlyUtf8(bytes: Buffer): boolean {
  const text = bytes.toString('utf8')
  const [broken, all] = [text.match(/\ufffd/g)?.length ?? 0, text.match(/[^\x00-\x7f]/gu)?.length ?? 0]
  return all - broken >= MIN_WHOLE_SHARE * all
}

const countBeyondAscii = (bytes: Buffer): number => bytes.reduce((count, byte) => count + (byte >= 0x80 ? 1 : 0), 0)

/** Latin letters: their frequencies count too. */
const isMostlyAscii = (bytes: Buffer): boolean =>
  2 * countBeyondAscii(bytes) <= (bytes.toString('latin1').match(/[A-Za-z]/g)?.length ?? 0)

const BYTES_BEFORE = 1_000

function sampleSurroundings(bytes: Buffer): Buffer {
  const start = Math.max(0, bytes.findIndex((byte) => byte >= 0x80) - BYTES_BEFORE)
  return bytes.subarray(start, start + SAMPLE_BYTES)
}

/** Statistics of so few letters are chance, so only the usual encodings count. */
const FEW_BYTES = 200
const COMMON_ENCODINGS = /^(?:utf|windows-|gb|big5|euc|shift|cp9[345]|iso-2022|koi8)/i
const LETTER = String.raw`\p{Script=Latin}`
/** A symbol inside a word shows that the bytes are letters of another encoding. */
const SIGN_IN_WORD = new RegExp(`${LETTER}[^\\x00-\\x7f\\p{L}\\xa0\\xad·’–—]${LETTER}`, 'u')

function isWestern(bytes: Buffer): boolean {
  const text = iconv.decode(bytes, 'windows-1252')
  return isMostlyAscii(bytes) && !/[\0\x80-\x9f\ufffd]/.test(text) && !SIGN_IN_WORD.test(text)
}
