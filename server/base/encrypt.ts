import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

/** AES-256-GCM: 12 bytes of nonce, 16 of tag, ciphertext. `context`, such as an owner, must match to decrypt. */
export function encrypt(key: Buffer, text: string, context = ''): Buffer {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context))
  const ciphertext = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), ciphertext])
}

export function decrypt(key: Buffer, encrypted: Buffer, context = ''): string {
  const decipher = createDecipheriv('aes-256-gcm', key, encrypted.subarray(0, 12), { authTagLength: 16 }).setAAD(
    Buffer.from(context),
  )
  decipher.setAuthTag(encrypted.subarray(12, 28))
  return decipher.update(encrypted.subarray(28), undefined, 'utf8') + decipher.final('utf8')
}
