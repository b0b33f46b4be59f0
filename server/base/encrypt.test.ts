import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { decrypt, encrypt } from './encrypt.ts'

const key = randomBytes(32)

test('decrypts with its own key and context, and with no other', () => {
  const encrypted = encrypt(key, 'sk-ünïcode', 'hers')
  expect(decrypt(key, encrypted, 'hers')).toBe('sk-ünïcode')
  expect(() => decrypt(randomBytes(32), encrypted, 'hers')).toThrow()
  expect(() => decrypt(key, encrypted, 'his')).toThrow()
})

test('does not decrypt when any byte was changed', () => {
  const encrypted = encrypt(key, 'secret')
  for (let index = 0; index < encrypted.length; index += 1) {
    const changed = Buffer.from(encrypted)
    changed.writeUInt8(encrypted.readUInt8(index) ^ 1, index)
    expect(() => decrypt(key, changed), `byte ${index}`).toThrow()
  }
})

test('encrypts equal texts differently, and leaves no plain text', () => {
  const [one, other] = [encrypt(key, 'secret'), encrypt(key, 'secret')]
  expect(one.equals(other)).toBe(false)
  expect(one.includes('secret')).toBe(false)
})

test('rejects a shortened tag', () => {
  const empty = encrypt(key, '')
  expect(decrypt(key, empty)).toBe('')
  for (const length of [16, 20, 27]) expect(() => decrypt(key, empty.subarray(0, length))).toThrow()
})
