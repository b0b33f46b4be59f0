/** Encryption of what must not be read where it is kept: AES-256-GCM, 12 bytes of nonce, 16 of tag, then the text. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

/**
 * @param key 32 bytes.
 * @param context what the text belongs to: sealed bytes that are moved elsewhere do not open there.
 */
export function encrypt(key: Buffer, text: string, context = ''): Buffer {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context))
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed])
}

/** @throws Error where key or context are others than those of `seal`, or a byte was changed. */
export function decrypt(key: Buffer, sealed: Buffer, context = ''): string {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, 12), { authTagLength: 16 }).setAAD(
    Buffer.from(context),
  )
  decipher.setAuthTag(sealed.subarray(12, 28))
  return decipher.update(sealed.subarray(28), undefined, 'utf8') + decipher.final('utf8')
}
