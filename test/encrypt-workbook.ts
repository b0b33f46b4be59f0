/** Encrypts workbooks in each of Excel's schemes (MS-OFFCRYPTO 2.3.4 to 2.3.7; MS-XLS 2.2.10). */
import { createCipheriv, createHash } from 'node:crypto'
import { compoundFiles } from '#server/parsing/containers/compound-file.ts'

const SALT = Buffer.from('000102030405060708090a0b0c0d0e0f', 'hex')
const utf16 = (text: string): Buffer => Buffer.from(text, 'utf16le')
const longs = (...values: readonly number[]): Buffer => Buffer.from(new Uint32Array(values).buffer)
const hash = (algorithm: string, ...parts: readonly Uint8Array[]): Buffer =>
  createHash(algorithm).update(Buffer.concat(parts)).digest()

function* rc4(key: Uint8Array): Generator<number> {
  const s = Array.from({ length: 256 }, (_, index) => index)
  const swap = (i: number, j: number) => ([s[i], s[j]] = [Number(s[j]), Number(s[i])])
  for (let i = 0, j = 0; i < 256; i += 1) {
    j = (j + Number(s[i]) + Number(key[i % key.length])) % 256
    swap(i, j)
  }
  for (let i = 1, j = 0; ; i = (i + 1) % 256) {
    j = (j + Number(s[i])) % 256
    swap(i, j)
    yield Number(s[(Number(s[i]) + Number(s[j])) % 256])
  }
}

function encipher(key: Uint8Array, plain: Uint8Array): Buffer {
  const stream = rc4(key)
  return Buffer.from(plain).map((byte) => byte ^ Number(stream.next().value)) as Buffer
}

interface OldScheme {
  readonly filePass: Buffer
  readonly encrypt: (byte: number, at: number, recordBytes: number) => number
}

/** XOR array of the default password (MS-OFFCRYPTO 2.3.7). */
const XOR_ARRAY = Buffer.from('876b9ae21ee305621e699660986e9404', 'hex')

const xor = (): OldScheme => ({
  filePass: Buffer.from('000059b30a9a', 'hex'),
  encrypt: (byte, at, recordBytes) => ((byte << 5) | (byte >> 3)) ^ Number(XOR_ARRAY[(at + recordBytes) % 16]),
})

function byBlocks(keyOf: (block: number) => Buffer): OldScheme['encrypt'] {
  const blocks: Buffer[] = []
  return (byte, at) => {
    const block = Math.floor(at / 1_024)
    return byte ^ Number((blocks[block] ??= encipher(keyOf(block), Buffer.alloc(1_024)))[at % 1_024])
  }
}

function rc4Basic(password: string): OldScheme {
  const start = hash('md5', utf16(password)).subarray(0, 5)
  const base = hash('md5', Buffer.concat(Array.from({ length: 16 }, () => Buffer.concat([start, SALT])))).subarray(0, 5)
  const keyOf = (block: number) => hash('md5', base, longs(block))
  const verifier = encipher(keyOf(0), Buffer.concat([SALT, hash('md5', SALT)]))
  return {
    filePass: Buffer.concat([Buffer.from('010001000100', 'hex'), SALT, verifier]),
    encrypt: byBlocks(keyOf),
  }
}

/** Header of RC4 CryptoAPI and standard encryption, after the version (MS-OFFCRYPTO 2.3.2, 2.3.3). */
function encryptionInfo(given: {
  readonly flags: number
  readonly algorithm: number
  readonly keyBits: number
  readonly provider: number
  readonly verifier: Buffer
}): Buffer {
  const { flags, algorithm, keyBits, provider, verifier } = given
  const header = Buffer.concat([longs(flags, 0, algorithm, 0x8004, keyBits, provider, 0, 0), utf16('A provider\0')])
  const [salt, hashed] = [Buffer.concat([longs(16), SALT]), Buffer.concat([longs(20), verifier.subarray(16)])]
  return Buffer.concat([longs(flags, header.length), header, salt, verifier.subarray(0, 16), hashed])
}

function rc4CryptoApi(password: string, keyBits: number): OldScheme {
  const base = hash('sha1', SALT, utf16(password))
  const keyOf = (block: number) => {
    const key = hash('sha1', base, longs(block)).subarray(0, keyBits / 8)
    return Buffer.concat([key, Buffer.alloc(keyBits === 40 ? 11 : 0)])
  }
  const verifier = encipher(keyOf(0), Buffer.concat([SALT, hash('sha1', SALT)]))
  const info = encryptionInfo({ flags: 4, algorithm: 0x6801, keyBits, provider: 1, verifier })
  return {
    filePass: Buffer.concat([Buffer.from('010004000200', 'hex'), info]),
    encrypt: byBlocks(keyOf),
  }
}

export const OLD_SCHEMES = {
  'XOR obfuscation': xor,
  RC4: rc4Basic,
  'RC4 CryptoAPI of 40 bits': (password: string) => rc4CryptoApi(password, 40),
  'RC4 CryptoAPI of 128 bits': (password: string) => rc4CryptoApi(password, 128),
} as const

const [BOUND_SHEET, FILE_PASS] = [0x85, 0x2f]
const PLAIN_RECORDS = [0x809, FILE_PASS, 0xe1]

export function encryptWorkbook(workbook: Uint8Array, { filePass, encrypt }: OldScheme): Uint8Array {
  const plain = Buffer.from(
    compoundFiles.find(compoundFiles.read(workbook, { type: 'buffer' }), '/Workbook')?.content ?? [],
  )
  const afterBof = 4 + plain.readUInt16LE(2)
  const added = Buffer.concat([Buffer.from(new Uint16Array([FILE_PASS, filePass.length]).buffer), filePass])
  const stream = Buffer.concat([plain.subarray(0, afterBof), added, plain.subarray(afterBof)])
  for (let at = 0; at + 4 <= stream.length;) {
    const [type, length, start] = [stream.readUInt16LE(at), stream.readUInt16LE(at + 2), at + 4]
    at = start + length
    if (type === BOUND_SHEET) stream.writeUInt32LE(stream.readUInt32LE(start) + added.length, start)
    if (PLAIN_RECORDS.includes(type)) continue
    for (let place = type === BOUND_SHEET ? start + 4 : start; place < at; place += 1)
      stream[place] = encrypt(Number(stream[place]), place, length)
  }
  return compoundFile({ '/Workbook': stream })
}

function compoundFile(streams: Readonly<Record<string, Buffer>>): Uint8Array {
  const { utils, write } = compoundFiles
  const file = utils.cfb_new()
  for (const [name, content] of Object.entries(streams)) utils.cfb_add(file, name, content)
  return Uint8Array.from(write(file, { type: 'array' }))
}

function aes(mode: 'ecb' | 'cbc', key: Buffer, iv: Buffer | null, plain: Uint8Array): Buffer {
  const cipher = createCipheriv(`aes-${key.length * 8}-${mode}`, key, iv).setAutoPadding(false)
  return Buffer.concat([cipher.update(plain), cipher.update(Buffer.alloc(-plain.length & 15)), cipher.final()])
}

function spun(algorithm: string, password: string, spins: number): Buffer {
  let value = hash(algorithm, SALT, utf16(password))
  for (let index = 0; index < spins; index += 1) value = hash(algorithm, longs(index), value)
  return value
}

/** MS-OFFCRYPTO 2.3.4.5 to 2.3.4.9. */
export function encryptStandard(workbook: Buffer, password: string): Uint8Array {
  const base = hash('sha1', spun('sha1', password, 50_000), longs(0))
  const padded = Buffer.alloc(64, 0x36).map((byte, index) => byte ^ (base[index] ?? 0))
  const key = hash('sha1', padded).subarray(0, 16)
  const verifier = aes('ecb', key, null, Buffer.concat([SALT, hash('sha1', SALT)]))
  return compoundFile({
    '/EncryptionInfo': Buffer.concat([
      Buffer.from('04000200', 'hex'),
      encryptionInfo({ flags: 0x24, algorithm: 0x660e, keyBits: 128, provider: 24, verifier }),
    ]),
    '/EncryptedPackage': Buffer.concat([longs(workbook.length, 0), aes('ecb', key, null, workbook)]),
  })
}

/** MS-OFFCRYPTO 2.3.4.10 to 2.3.4.15. The file claims to need `claimedSpins`. */
export function encryptAgile(workbook: Buffer, password: string, claimedSpins?: number): Uint8Array {
  const spins = 1_000
  const key = Buffer.alloc(32, 7)
  const base = hash('sha512', spun('sha512', password, spins), Buffer.from('146e0be7abacd0d6', 'hex')).subarray(0, 32)
  const segments = Array.from({ length: Math.ceil(workbook.length / 4_096) }, (_, index) =>
    aes(
      'cbc',
      key,
      hash('sha512', SALT, longs(index)).subarray(0, 16),
      workbook.subarray(index * 4_096, (index + 1) * 4_096),
    ),
  )
  const cipher = `saltSize="16" blockSize="16" keyBits="256" hashSize="64" cipherAlgorithm="AES" cipherChaining="ChainingModeCBC" hashAlgorithm="SHA512" saltValue="${SALT.toString('base64')}"`
  const info = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<encryption xmlns="http://schemas.microsoft.com/office/2006/encryption" xmlns:p="http://schemas.microsoft.com/office/2006/keyEncryptor/password"><keyData ${cipher}/><keyEncryptors><keyEncryptor uri="http://schemas.microsoft.com/office/2006/keyEncryptor/password"><p:encryptedKey spinCount="${claimedSpins ?? spins}" ${cipher} encryptedKeyValue="${aes('cbc', base, SALT, key).toString('base64')}"/></keyEncryptor></keyEncryptors></encryption>`
  return compoundFile({
    '/EncryptionInfo': Buffer.concat([Buffer.from('0400040040000000', 'hex'), Buffer.from(info)]),
    '/EncryptedPackage': Buffer.concat([longs(workbook.length, 0), ...segments]),
  })
}
