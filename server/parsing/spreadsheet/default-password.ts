/** Decrypts with the password that Excel tries first, for structure only (MS-OFFCRYPTO 2.4.2.3; MS-XLS 2.2.10). */
import { createDecipheriv, createHash } from 'node:crypto'
import { decodeXML } from 'entities/decode'
import { compoundFiles } from '#server/parsing/containers/compound-file.ts'

const PASSWORD = 'VelvetSweatshop'
const PASSWORD_UTF16 = Buffer.from(PASSWORD, 'utf16le')

const digest = (algorithm: string, ...parts: readonly Uint8Array[]): Buffer => {
  const hash = createHash(algorithm)
  for (const part of parts) hash.update(part)
  return hash.digest()
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

const readStream = (file: object, path: string): Buffer | undefined => {
  const content = compoundFiles.find(file, path)?.content
  return content && Buffer.from(content)
}

/** Decrypts the record stream of an .xls; undefined if it needs another password. */
export function decryptWorkbook(bytes: Uint8Array): Buffer | undefined {
  const file = compoundFiles.read(bytes, { type: 'buffer' })
  const stream = readStream(file, '/Workbook') ?? readStream(file, '/Book')
  if (!stream) return undefined
  const filePass = findFilePass(stream)
  const decipher = filePass && createDecipher(stream.subarray(filePass.start, filePass.end), stream.length)
  if (!decipher) return undefined
  // Sheet offsets count from the start of the stream, so FilePass becomes an ignored record instead of being removed.
  stream.writeUInt16LE(USER_EXCLUSIVE, filePass.start - RECORD_HEADER_BYTES)
  for (const { type, start, end } of listRecords(stream))
    if (!PLAIN_RECORDS.has(type)) decipher(stream, { start, end, plainBytes: type === BOUND_SHEET ? OFFSET_BYTES : 0 })
  return stream
}

interface RecordRange {
  readonly start: number
  readonly end: number
  readonly plainBytes: number
}

type Decipher = (stream: Buffer, record: RecordRange) => void

const RECORD_HEADER_BYTES = 4
const FILE_PASS = 0x2f
const BOUND_SHEET = 0x85
const USER_EXCLUSIVE = 0x194
/** BOF, FilePass, UsrExcl, FileLock, InterfaceHdr, RRDInfo and RRDHead are never encrypted; nor is a sheet's offset. */
const PLAIN_RECORDS: ReadonlySet<number> = new Set([0x809, FILE_PASS, USER_EXCLUSIVE, 0x195, 0xe1, 0x196, 0x138])
const OFFSET_BYTES = 4

interface WorkbookRecord {
  readonly type: number
  readonly start: number
  readonly end: number
}

function findFilePass(stream: Buffer): WorkbookRecord | undefined {
  for (const record of listRecords(stream)) if (record.type === FILE_PASS) return record
  return undefined
}

function* listRecords(stream: Buffer): Generator<WorkbookRecord> {
  for (let at = 0; at + RECORD_HEADER_BYTES <= stream.length;) {
    const start = at + RECORD_HEADER_BYTES
    const end = Math.min(start + stream.readUInt16LE(at + 2), stream.length)
    yield { type: stream.readUInt16LE(at), start, end }
    at = end
  }
}

function createDecipher(filePass: Buffer, length: number): Decipher | undefined {
  // Excel 95 has no field for the scheme.
  if (filePass.length === 4) return createXorDecipher(filePass)
  if (filePass.readUInt16LE(0) === 0) return createXorDecipher(filePass.subarray(2))
  const keyOf =
    filePass.readUInt16LE(4) === 1 ? deriveBasicKeys(filePass.subarray(6)) : deriveCryptoApiKeys(filePass.subarray(6))
  return keyOf && createRc4Decipher(keyOf, length)
}

/** Key and verifier of the default password (MS-OFFCRYPTO 2.3.7.1 and 2.3.7.2). */
const XOR_KEY = 0xb359
const XOR_VERIFIER = 0x9a0a

/** The padded password, rotated by the key (MS-OFFCRYPTO 2.3.7.2, 2.3.7.3). */
function createXorDecipher(obfuscation: Buffer): Decipher | undefined {
  const key = obfuscation.readUInt16LE(0)
  if (obfuscation.readUInt16LE(2) !== XOR_VERIFIER || key !== XOR_KEY) return undefined
  const array = Buffer.from(`${PASSWORD}\u00bb`, 'latin1').map((byte, index) => {
    const turned = byte ^ (index % 2 === 1 ? key >> 8 : key & 0xff)
    return (turned >> 1) | (turned << 7)
  })
  return (stream, { start, end, plainBytes }) => {
    for (let at = start + plainBytes; at < end; at += 1) {
      const value = (stream[at] ?? 0) ^ (array[(at + end - start) % 16] ?? 0)
      stream[at] = (value << 3) | (value >> 5)
    }
  }
}

type KeyOfBlock = (block: number) => Buffer

const RC4_BLOCK_BYTES = 1_024

/** MS-OFFCRYPTO 2.3.6. */
function deriveBasicKeys(header: Buffer): KeyOfBlock | undefined {
  const [salt, verifier, verifierHash] = [header.subarray(0, 16), header.subarray(16, 32), header.subarray(32, 48)]
  const start = digest('md5', PASSWORD_UTF16).subarray(0, 5)
  const base = digest('md5', ...Array.from({ length: 16 }, () => [start, salt]).flat()).subarray(0, 5)
  const keyOf = (block: number) => digest('md5', base, uint32(block))
  return isRightKey({ key: keyOf(0), algorithm: 'md5', verifier, verifierHash }) ? keyOf : undefined
}

/** MS-OFFCRYPTO 2.3.5. */
function deriveCryptoApiKeys(info: Buffer): KeyOfBlock | undefined {
  const headerBytes = info.readUInt32LE(4)
  const keyBits = info.readUInt32LE(8 + 16) || 40
  const body = info.subarray(8 + headerBytes)
  const [salt, verifier, verifierHash] = [body.subarray(4, 20), body.subarray(20, 36), body.subarray(40, 60)]
  const base = digest('sha1', salt, PASSWORD_UTF16)
  const keyOf = (block: number) => {
    const key = digest('sha1', base, uint32(block)).subarray(0, keyBits / 8)
    return keyBits === 40 ? Buffer.concat([key, Buffer.alloc(11)]) : key
  }
  return isRightKey({ key: keyOf(0), algorithm: 'sha1', verifier, verifierHash }) ? keyOf : undefined
}

function isRightKey(given: {
  readonly key: Buffer
  readonly algorithm: string
  readonly verifier: Buffer
  readonly verifierHash: Buffer
}): boolean {
  const both = Buffer.concat([given.verifier, given.verifierHash])
  const stream = rc4KeyStream(given.key, both.length)
  const plain = both.map((byte, index) => byte ^ (stream[index] ?? 0))
  return digest(given.algorithm, plain.subarray(0, 16)).equals(plain.subarray(16))
}

function createRc4Decipher(keyOf: KeyOfBlock, length: number): Decipher {
  const keyStream = Buffer.alloc(length)
  for (let block = 0; block * RC4_BLOCK_BYTES < length; block += 1)
    keyStream.set(
      rc4KeyStream(keyOf(block), Math.min(RC4_BLOCK_BYTES, length - block * RC4_BLOCK_BYTES)),
      block * RC4_BLOCK_BYTES,
    )
  return (stream, { start, end, plainBytes }) => {
    for (let at = start + plainBytes; at < end; at += 1) stream[at] = (stream[at] ?? 0) ^ (keyStream[at] ?? 0)
  }
}

/** Node offers RC4 only with OpenSSL's legacy provider. */
function rc4KeyStream(key: Uint8Array, length: number): Uint8Array {
  const state = Uint8Array.from({ length: 256 }, (_, index) => index)
  const at = (index: number): number => state[index & 0xff] ?? 0
  const swap = (one: number, other: number) => {
    const previous = at(one)
    state[one & 0xff] = at(other)
    state[other & 0xff] = previous
  }
  for (let i = 0, j = 0; i < 256; i += 1) {
    j = (j + at(i) + (key[i % key.length] ?? 0)) & 0xff
    swap(i, j)
  }
  let j = 0
  return Uint8Array.from({ length }, (_, index) => {
    const i = (index + 1) & 0xff
    j = (j + at(i)) & 0xff
    swap(i, j)
    return at(at(i) + at(j))
  })
}

/** Decrypts the zip file of an .xlsx in an `EncryptedPackage`; undefined if it needs another password. */
export function decryptPackage(bytes: Uint8Array): Buffer | undefined {
  const file = compoundFiles.read(bytes, { type: 'buffer' })
  const [info, content] = [readStream(file, '/EncryptionInfo'), readStream(file, '/EncryptedPackage')]
  if (!info || !content) return undefined
  const size = Number(content.readBigUInt64LE(0))
  const cipherText = content.subarray(8)
  const isAgile = info.readUInt32LE(0) === AGILE_VERSION
  const plain = isAgile ? decryptAgile(info.subarray(8).toString(), cipherText) : decryptStandard(info, cipherText)
  return plain?.readUInt32LE(0) === ZIP_SIGNATURE ? plain.subarray(0, size) : undefined
}

const AGILE_VERSION = 0x0004_0004
const ZIP_SIGNATURE = 0x0403_4b50
const AES_BLOCK_BYTES = 16

/** MS-OFFCRYPTO 2.3.4.7. */
function decryptStandard(info: Buffer, cipherText: Buffer): Buffer | undefined {
  const headerBytes = info.readUInt32LE(8)
  const keyBits = AES_BITS.get(info.readUInt32LE(12 + 8))
  if (keyBits === undefined) return undefined
  const salt = info.subarray(12 + headerBytes + 4, 12 + headerBytes + 20)
  const base = digest('sha1', spinHash('sha1', salt, STANDARD_SPIN_COUNT), uint32(0))
  const half = (byte: number) =>
    digest(
      'sha1',
      Buffer.alloc(64, byte).map((value, index) => value ^ (base[index] ?? 0)),
    )
  const key = Buffer.concat([half(0x36), half(0x5c)]).subarray(0, keyBits / 8)
  return decryptAes({ mode: 'ecb', key, iv: null, cipherText })
}

const STANDARD_SPIN_COUNT = 50_000
const AES_BITS: ReadonlyMap<number, number> = new Map([
  [0x660e, 128],
  [0x660f, 192],
  [0x6610, 256],
])
const AES_KEY_BITS: ReadonlySet<number> = new Set(AES_BITS.values())

/** MS-OFFCRYPTO 2.3.4.11 to 2.3.4.15. */
function decryptAgile(xml: string, cipherText: Buffer): Buffer | undefined {
  const data = readAttributes(xml, 'keyData')
  const locked = readAttributes(xml, 'encryptedKey')
  const spins = Number(locked('spinCount'))
  const keyBits = Number(locked('keyBits'))
  if (!(spins <= MAX_SPIN_COUNT) || !AES_KEY_BITS.has(keyBits)) return undefined
  const algorithm = locked('hashAlgorithm').toLowerCase()
  const salt = Buffer.from(locked('saltValue'), 'base64')
  const base = digest(algorithm, spinHash(algorithm, salt, spins), KEY_VALUE_BLOCK)
  const key = decryptAes({
    mode: 'cbc',
    key: fitLength(base, keyBits / 8),
    iv: fitLength(salt, AES_BLOCK_BYTES),
    cipherText: Buffer.from(locked('encryptedKeyValue'), 'base64'),
  }).subarray(0, Number(data('keyBits')) / 8)
  const dataHash = data('hashAlgorithm').toLowerCase()
  const dataSalt = Buffer.from(data('saltValue'), 'base64')
  const segments: Buffer[] = []
  for (let at = 0; at < cipherText.length; at += SEGMENT_BYTES) {
    const iv = fitLength(digest(dataHash, dataSalt, uint32(at / SEGMENT_BYTES)), AES_BLOCK_BYTES)
    segments.push(decryptAes({ mode: 'cbc', key, iv, cipherText: cipherText.subarray(at, at + SEGMENT_BYTES) }))
  }
  return Buffer.concat(segments)
}

const KEY_VALUE_BLOCK = Buffer.from('146e0be7abacd0d6', 'hex')
const SEGMENT_BYTES = 4_096
/** Excel writes 100,000; bounds the work that a hostile file can cause. */
const MAX_SPIN_COUNT = 1_000_000

function readAttributes(xml: string, element: string): (name: string) => string {
  const [tag = ''] = new RegExp(String.raw`<(?:\w+:)?${element}\s[^<>]*>`).exec(xml) ?? []
  return (name) => decodeXML(new RegExp(String.raw`\s${name}="([^"]*)"`).exec(tag)?.[1] ?? '')
}

/** MS-OFFCRYPTO 2.3.4.7 and 2.3.4.11. */
function spinHash(algorithm: string, salt: Buffer, spins: number): Buffer {
  let value = digest(algorithm, salt, PASSWORD_UTF16)
  for (let index = 0; index < spins; index += 1) value = digest(algorithm, uint32(index), value)
  return value
}

const fitLength = (bytes: Buffer, length: number): Buffer =>
  Buffer.concat([bytes, Buffer.alloc(Math.max(0, length - bytes.length), 0x36)]).subarray(0, length)

interface AesText {
  readonly mode: 'ecb' | 'cbc'
  readonly key: Buffer
  readonly iv: Buffer | null
  readonly cipherText: Buffer
}

function decryptAes({ mode, key, iv, cipherText }: AesText): Buffer {
  const decipher = createDecipheriv(`aes-${key.length * 8}-${mode}`, key, iv).setAutoPadding(false)
  const whole = cipherText.subarray(0, cipherText.length - (cipherText.length % AES_BLOCK_BYTES))
  return Buffer.concat([decipher.update(whole), decipher.final()])
}
