import { crc32, inflateRawSync } from 'node:zlib'

/** Returns contents by path, in directory order (APPNOTE.TXT 4.3). @throws Error on a wrong checksum. */
export function readZip(bytes: Buffer): Map<string, Buffer> {
  const end = bytes.lastIndexOf(Buffer.from('PK\x05\x06'))
  if (end < 0) throw new Error('This is no whole zip file.')
  const files = new Map<string, Buffer>()
  let at = bytes.readUInt32LE(end + 16)
  for (let index = 0; index < bytes.readUInt16LE(end + 10); index += 1) {
    const nameLength = bytes.readUInt16LE(at + 28)
    const name = bytes.toString('utf8', at + 46, at + 46 + nameLength)
    const local = bytes.readUInt32LE(at + 42)
    const start = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28)
    const packed = bytes.subarray(start, start + bytes.readUInt32LE(at + 20))
    const content = bytes.readUInt16LE(at + 10) === 0 ? packed : inflateRawSync(packed)
    if (crc32(content) !== bytes.readUInt32LE(at + 16)) throw new Error(`${name} is damaged.`)
    files.set(name, content)
    at += 46 + nameLength + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32)
  }
  return files
}
