import { type KeyObject, sign } from 'node:crypto'

/** DER: tag, length, content. */
function der(tag: number, ...contents: Buffer[]): Buffer {
  const content = Buffer.concat(contents)
  const size = content.length
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 255]
  return Buffer.concat([Buffer.from([tag, ...length]), content])
}

/** Creates a self-signed X.509 version 1 certificate, which Node cannot. */
export function certify(publicKey: KeyObject, privateKey: KeyObject): string {
  const algorithm = der(0x30, Buffer.from('06092a864886f70d01010b0500', 'hex'))
  const nobody = der(0x30)
  const validity = der(0x30, der(0x17, Buffer.from('200101000000Z')), der(0x17, Buffer.from('491231235959Z')))
  const body = der(
    0x30,
    der(0x02, Buffer.from([1])),
    algorithm,
    nobody,
    validity,
    nobody,
    publicKey.export({ type: 'spki', format: 'der' }),
  )
  const proof = der(0x03, Buffer.from([0]), sign('sha256', body, privateKey))
  const base64 = der(0x30, body, algorithm, proof).toString('base64')
  return `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`
}
